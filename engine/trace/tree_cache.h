// Trees of large meshes kept on disk between runs, one file each, named by what they were built from: positions,
// indices, and the builder's version and settings. A file appears whole or not at all, so several processes may use one
// folder at once. What can't be written (a full disk) costs a warning and the next start's time, never a failure.
//
// A file holds a header, the nodes, and the order of the triangles; the triangles themselves are gathered from the mesh
// again. Read back, it is believed only as far as it was checked: sizes against the file, the payload's hash, and every
// reference of every node, so that traversal of a damaged or forged tree could neither leave its arrays nor its stack.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/content_hash.h"
#include "trace/compute_bvh.h"

namespace tandem::trace {

/// Immutable, thread-safe.
class TreeCache {
 public:
  struct Place {
    std::filesystem::path folder;            // made when first written to; empty: nothing is kept
    uint64_t mostBytes = uint64_t{8} << 30;  // of all files together: those not used for longest go first
    size_t leastTriangles = 50'000;          // smaller trees are built sooner than they are found
  };
  explicit TreeCache(Place place) : place_(std::move(place)) {}

  /// `trees` in the user's cache folder (gpu/cache_folder.h); nothing where TANDEM_TREE_CACHE is "off".
  static TreeCache ofUser();

  /// The mesh's tree from the cache, or else built, as by buildMeshTree, and kept.
  MeshTree treeOf(const MeshView& mesh) const;

  /// Where the mesh's tree is or would be.
  std::filesystem::path fileOf(const MeshView& mesh) const;

  /// The tree in a file, or why there is none: the reason of a file that is not there is empty.
  static Expected<MeshTree> read(const std::filesystem::path& file, const MeshView& mesh);

 private:
  void write(const std::filesystem::path& file, const MeshTree& tree) const;
  void evict() const;

  Place place_;
};

/// Nothing where a walk over these nodes stays within them, within `entries` leaf entries and within `depth` levels;
/// else what is wrong. Every node must be the child of one earlier node, as buildBinaryTree makes them.
std::string faultOf(std::span<const shared::BvhNode> nodes, size_t entries, uint32_t depth);

}  // namespace tandem::trace
