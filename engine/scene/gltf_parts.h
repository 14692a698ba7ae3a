// From a checked Document to the parts of a Scene. Private to the glTF loader. Only what the shown scene uses is built.
#pragma once

#include <map>
#include <set>

#include "scene/gltf_document.h"
#include "scene/scene.h"

namespace tandem::scene::gltf {

/// Materials with their textures and images, made when first asked for. An image that cannot be read is a warning, and
/// a checker in magenta and black stands in for colours; one in a format that is not supported, where a file could not
/// know better, is drawn in neutral grey.
class MaterialTable {
 public:
  MaterialTable(Document& document, Scene& scene) : document_(document), scene_(scene) {}
  /// The scene's index of a glTF material; kNone for -1.
  uint32_t find(int material);

 private:
  enum class Slot { Colour, Emission, Surface, Data };  // Surface: metallic-roughness
  Material make(size_t index);
  template <class Info>
  TextureUse makeUse(const Info& info, Slot slot, const std::string& where);
  uint32_t findTexture(int texture, Slot slot, const std::string& where);
  Texture makeTexture(const tinygltf::Texture& texture);
  uint32_t findImage(int image, const std::string& where);
  Expected<Image> readImage(const ImageSource& source) const;
  uint32_t standIn(Slot slot, bool foreignFormat);
  float clampFactor(double value, double low, double high, const std::string& where);

  Document& document_;
  Scene& scene_;
  std::map<int, uint32_t> materials_;
  std::map<std::pair<int, Slot>, uint32_t> textures_;
  std::map<int, uint32_t> images_;  // kNone: cannot be read
  std::set<int> foreignImages_;     // in a format that is not supported
  std::map<std::pair<Slot, bool>, uint32_t> standIns_;
};

/// Triangle meshes, one for each glTF primitive that shows any, made when first asked for.
class MeshTable {
 public:
  MeshTable(Document& document, Scene& scene, MaterialTable& materials)
      : document_(document), scene_(scene), materials_(materials) {}
  /// The scene's indices of a glTF mesh's primitives.
  Expected<std::vector<uint32_t>> find(int mesh);

 private:
  std::optional<Refusal> add(const tinygltf::Primitive& primitive, const std::string& where,
                             std::vector<uint32_t>& indices);

  Document& document_;
  Scene& scene_;
  MaterialTable& materials_;
  std::map<int, std::vector<uint32_t>> meshes_;
  uint64_t bytes_ = 0;                        // of all attributes so far
  uint64_t morphBudget_ = uint64_t{1} << 28;  // morph targets times vertices that may still be read
};

/// JOINTS_n and WEIGHTS_n, normalised; nothing where the primitive has none.
std::optional<Refusal> readBinding(Document& document, const tinygltf::Primitive& primitive, const std::string& where,
                                   SkinBinding& binding);

/// The primitive's morph targets. `mesh` has its positions, and normals and tangents as the file gives them. `budget`:
/// a file can name the same accessor any number of times.
std::optional<Refusal> readMorphs(Document& document, const tinygltf::Primitive& primitive, const std::string& where,
                                  uint64_t& budget, Mesh& mesh);

/// The weights that a node's morph targets begin with: its own, else its mesh's.
std::vector<float> morphWeightsOf(Document& document, const tinygltf::Node& node, const std::string& where,
                                  size_t targets);

/// The skins that nodes wear, once all nodes are there.
std::optional<Refusal> buildSkins(Document& document, Scene& scene, const std::vector<uint32_t>& sceneNode);

/// The triangle list of a primitive, from lists, strips and fans, with or without indices.
Expected<std::vector<uint32_t>> readTriangles(Document& document, const tinygltf::Primitive& primitive,
                                              const std::string& where, size_t vertices);

/// The shown scene's nodes with cameras and lights, parents first. `sceneNode` maps glTF's node indices to the scene's
/// (kNone: not shown). No recursion: 50,000 nested nodes are a chain like any other.
std::optional<Refusal> buildNodes(Document& document, Scene& scene, MeshTable& meshes,
                                  std::vector<uint32_t>& sceneNode);

/// How often all primitives may be drawn, over all nodes and instances: a few bytes of a file can name thousands.
inline constexpr size_t kMaxDrawn = size_t{1} << 22;

/// How many vertices may deform, over all nodes: each node's are its own.
inline constexpr size_t kMaxDeforming = size_t{1} << 27;

/// EXT_mesh_gpu_instancing: moves the meshes of the scene's last node, which came from `from`, to one child an
/// instance.
std::optional<Refusal> addInstances(Document& document, const tinygltf::Node& from, const std::string& where,
                                    Scene& scene);

/// KHR_lights_punctual and cameras, by glTF index; kNone where one cannot be used.
std::vector<uint32_t> buildLights(Document& document, Scene& scene);
void buildLenses(Document& document, Scene& scene);

/// Animations of translation, rotation, scale and weights. A channel whose keys make no sense is left out with a
/// warning.
std::optional<Refusal> buildAnimations(Document& document, Scene& scene, const std::vector<uint32_t>& sceneNode);

}  // namespace tandem::scene::gltf
