// The frame graph: passes and the data that flows between them, declared once, in the order of the frame. Pure data: no
// Vulkan, no nodes.
//
// A pass is two functions. `declare` runs at once and says what is read, made and written (capture by reference).
// `record` runs once a frame on the render thread, on whatever node the plan gives the pass (capture by value; nothing
// of the graph may be changed there). A handle is typed by what the buffer holds. Writing returns a new version and
// makes the old handle invalid, so that a wrong order of passes is a broken promise at the time of declaration and not
// a wrong picture.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tandem::graph {

class Recording;

/// Handle of one version of a buffer of T. Made by a PassBuilder only.
template <class T>
struct Resource {
  uint32_t index = UINT32_MAX;
  uint32_t version = 0;
};

/// Size of a resource: `rows` rows of `rowBytes`. Pixel planes have one row a scan line, so that a plan may share them
/// by rows.
struct BufferDesc {
  std::string name;
  uint64_t rowBytes = 0;
  uint32_t rows = 1;
  uint64_t bytes() const { return rowBytes * rows; }
};

struct Access {
  uint32_t resource = 0;
  uint32_t version = 0;  // version read, or version made by a write
  bool operator==(const Access&) const = default;
};

struct Pass {
  std::string name;
  std::vector<Access> reads;       // current content
  std::vector<uint32_t> rowReads;  // those of `reads` that are read row by row, through a row table
  std::vector<uint32_t> previous;  // content at the end of the frame before (history); makes the pass temporal
  std::vector<Access> writes;      // versions this pass makes; version 0 = creates
  bool sideEffect = false;         // has a result outside the graph: never culled
  bool shareable = false;          // may be dealt to several nodes by rows; then so is all that it makes
  std::function<void(Recording&)> record;
  bool temporal() const { return !previous.empty(); }
};

class Graph;

/// What a pass says of itself while it is declared. Lives only inside Graph::addPass.
class PassBuilder {
 public:
  /// Makes a new resource that this pass writes whole.
  template <class T>
  [[nodiscard]] Resource<T> create(BufferDesc desc) {
    return {createResource(std::move(desc)), 0};
  }
  template <class T>
  Resource<T> read(Resource<T> handle) {
    readVersion(handle.index, handle.version);
    return handle;
  }
  /// Reads a plane row by row, through the table of Recording::rows. The only way to read what a shareable pass made:
  /// its rows may lie in several places.
  template <class T>
  Resource<T> readRows(Resource<T> handle) {
    readVersion(handle.index, handle.version, true);
    return handle;
  }
  /// Changes a resource in place (reads and writes it). The handle given is invalid from here on.
  template <class T>
  [[nodiscard]] Resource<T> write(Resource<T> handle) {
    return {handle.index, writeVersion(handle.index, handle.version)};
  }
  /// Reads what `handle`'s resource held at the end of the previous frame. In the first frame that is zero bytes.
  template <class T>
  Resource<T> readPrevious(Resource<T> handle) {
    readHistory(handle.index);
    return handle;
  }
  void sideEffect();
  /// The pass may run on several nodes at once, each for its rows (Recording::share). All it makes are planes of one
  /// height.
  void shareable();

 private:
  friend class Graph;
  PassBuilder(Graph& graph, Pass& pass) : graph_(graph), pass_(pass) {}
  uint32_t createResource(BufferDesc desc);
  void readVersion(uint32_t resource, uint32_t version, bool byRows = false);
  uint32_t writeVersion(uint32_t resource, uint32_t version);
  void readHistory(uint32_t resource);

  Graph& graph_;
  Pass& pass_;
};

class Graph {
 public:
  /// Adds a pass at the end of the frame. Returns what `declare` returns: the handles of its outputs. Names are unique
  /// in a graph.
  template <class Declare>
  auto addPass(std::string name, Declare&& declare, std::function<void(Recording&)> record) {
    Pass pass;
    pass.name = std::move(name);
    PassBuilder builder(*this, pass);
    if constexpr (std::is_void_v<std::invoke_result_t<Declare, PassBuilder&>>) {
      declare(builder);
      finish(std::move(pass), std::move(record));
    } else {
      auto outputs = declare(builder);
      finish(std::move(pass), std::move(record));
      return outputs;
    }
  }

  const std::vector<Pass>& passes() const { return passes_; }
  const std::vector<BufferDesc>& resources() const { return resources_; }
  /// Latest version of a resource; the only one whose handle is valid.
  uint32_t version(uint32_t resource) const { return versions_.at(resource); }
  /// The shareable pass that made a resource; UINT32_MAX: another kind of pass did.
  uint32_t sharedMaker(uint32_t resource) const { return sharedMakers_.at(resource); }

 private:
  friend class PassBuilder;
  void finish(Pass pass, std::function<void(Recording&)> record);

  std::vector<Pass> passes_;
  std::vector<BufferDesc> resources_;
  std::vector<uint32_t> versions_;
  std::vector<uint32_t> sharedMakers_;
};

}  // namespace tandem::graph
