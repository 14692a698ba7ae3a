#include <algorithm>
#include <charconv>
#include <cmath>

#include "scene/animation.h"
#include "scene/gltf_parts.h"

namespace tandem::scene::gltf {

namespace {

/// Parents by glTF index; kNone for roots. Refuses nodes with two parents and cycles, with the node's JSON path.
Expected<std::vector<uint32_t>> findParents(const Document& document) {
  const auto& nodes = document.model.nodes;
  std::vector<uint32_t> parents(nodes.size(), kNone);
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    for (const int child : nodes[i].children) {
      const auto c = static_cast<uint32_t>(child);
      if (c == i) return document.no("nodes[{}].children: the node is its own child, a cycle", i);
      if (parents[c] != kNone) {
        return document.no("nodes[{}].children: nodes[{}] has more than one parent, nodes[{}] too", i, c, parents[c]);
      }
      parents[c] = i;
    }
  }
  // What cannot be reached from a root hangs on a cycle.
  std::vector<uint32_t> open;
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    if (parents[i] == kNone) open.push_back(i);
  }
  std::vector<bool> reached(nodes.size(), false);
  while (!open.empty()) {
    const uint32_t at = open.back();
    open.pop_back();
    reached[at] = true;
    for (const int child : nodes[at].children) open.push_back(static_cast<uint32_t>(child));
  }
  const auto lost = std::find(reached.begin(), reached.end(), false);
  if (lost != reached.end()) return document.no("nodes[{}]: the node is part of a cycle", lost - reached.begin());
  return parents;
}

/// The index of the scene to show: by the caller's name or index, else the file's default, else the first.
Expected<size_t> findScene(const Document& document) {
  const auto& scenes = document.model.scenes;
  const std::string& wanted = document.options.scene;
  if (wanted.empty()) return document.model.defaultScene < 0 ? 0 : static_cast<size_t>(document.model.defaultScene);
  std::string names;
  for (size_t i = 0; i < scenes.size(); ++i) {
    if (scenes[i].name == wanted) return i;
    names += fmt::format("{}{} '{}'", i == 0 ? "" : ", ", i, printable(scenes[i].name));
  }
  size_t index = 0;
  const char* end = wanted.data() + wanted.size();
  const auto [parsed, error] = std::from_chars(wanted.data(), end, index);
  if (error == std::errc() && parsed == end && index < scenes.size()) return index;
  return refuse(ExitCode::WrongUsage, "{}: has no scene '{}'; its scenes are: {}", printable(document.path),
                printable(wanted), names.empty() ? "none" : names);
}

/// The nodes that the shown scene starts from.
Expected<std::vector<uint32_t>> findRoots(Document& document, const std::vector<uint32_t>& parents) {
  const tinygltf::Model& model = document.model;
  const auto shown = findScene(document);
  if (!shown) return shown.refusal();
  std::vector<uint32_t> roots;
  if (model.scenes.empty()) {
    if (!parents.empty()) document.warnings.add("the file has no scene: all its nodes are shown", "scenes");
    for (uint32_t i = 0; i < parents.size(); ++i) {
      if (parents[i] == kNone) roots.push_back(i);
    }
    return roots;
  }
  for (const int node : model.scenes[*shown].nodes) {
    const auto index = static_cast<uint32_t>(node);
    if (parents[index] != kNone) {
      document.warnings.add("a scene lists a node that is another one's child: it is shown under its parent alone",
                            fmt::format("scenes[{}].nodes: {}", *shown, index));
    } else if (std::find(roots.begin(), roots.end(), index) == roots.end()) {
      roots.push_back(index);
    }
  }
  return roots;
}

float finite(double value) { return static_cast<float>(std::clamp(value, -3.0e38, 3.0e38)); }

void setMatrix(Document& document, const tinygltf::Node& source, const std::string& where, Node& node) {
  node.hasMatrix = true;
  for (int column = 0; column < 4; ++column) {
    for (int row = 0; row < 4; ++row)
      node.matrix[column][row] = finite(source.matrix[static_cast<size_t>(column * 4 + row)]);
  }
  const bool affine =
      node.matrix[0][3] == 0.0f && node.matrix[1][3] == 0.0f && node.matrix[2][3] == 0.0f && node.matrix[3][3] == 1.0f;
  if (affine) return;
  document.warnings.add("a node's matrix is no affine one: its last row was taken as 0 0 0 1", where + ".matrix");
  for (int column = 0; column < 4; ++column) node.matrix[column][3] = column == 3 ? 1.0f : 0.0f;
}

void setTransform(Document& document, const tinygltf::Node& source, const std::string& where, Node& node) {
  if (!source.matrix.empty()) return setMatrix(document, source, where, node);
  const auto toVec3 = [](const std::vector<double>& v) { return vec3(finite(v[0]), finite(v[1]), finite(v[2])); };
  if (!source.translation.empty()) node.translation = toVec3(source.translation);
  if (!source.scale.empty()) node.scale = toVec3(source.scale);
  if (source.rotation.empty()) return;
  const auto& r = source.rotation;
  const double length = std::sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]);
  if (!(length > 1e-12) || !std::isfinite(length)) {
    document.warnings.add("a node's rotation has no direction: none was applied", where + ".rotation");
    return;
  }
  if (std::abs(length - 1.0) > 1e-2) {
    document.warnings.add("a node's rotation is not of unit length: it was normalised", where + ".rotation");
  }
  node.rotation = quat(static_cast<float>(r[3] / length), static_cast<float>(r[0] / length),
                       static_cast<float>(r[1] / length), static_cast<float>(r[2] / length));
}

std::optional<Refusal> checkSkins(const Document& document) {
  for (size_t i = 0; i < document.model.skins.size(); ++i) {
    const tinygltf::Skin& skin = document.model.skins[i];
    if (skin.inverseBindMatrices < 0) continue;
    const size_t count = document.model.accessors[static_cast<size_t>(skin.inverseBindMatrices)].count;
    if (count < skin.joints.size()) {
      return document.no("skins[{}].inverseBindMatrices: accessors[{}].count is {} for {} joints", i,
                         skin.inverseBindMatrices, count, skin.joints.size());
    }
  }
  return std::nullopt;
}

uint32_t lightOf(const tinygltf::Node& node, const std::vector<uint32_t>& lights) {
  const auto extension = node.extensions.find("KHR_lights_punctual");
  if (extension == node.extensions.end()) return kNone;
  return lights[static_cast<size_t>(extension->second.Get("light").GetNumberAsInt())];
}

Node makeNode(Document& document, const tinygltf::Node& from, const std::vector<uint32_t>& lights,
              const std::string& where) {
  Node node;
  node.name = printable(from.name);
  setTransform(document, from, where, node);
  node.lens = from.camera < 0 ? kNone : static_cast<uint32_t>(from.camera);
  node.light = lightOf(from, lights);
  if (from.skin >= 0 && from.mesh >= 0) node.skin = static_cast<uint32_t>(from.skin);
  return node;
}

/// Vertices that a skin or morph targets may move.
size_t deformingVertices(const Scene& scene, const Node& node) {
  size_t count = 0;
  for (const uint32_t mesh : node.meshes) {
    const Mesh& m = scene.meshes[mesh];
    if ((node.skin != kNone && m.binding.influences > 0) || m.morphs.count > 0) count += m.positions.size();
  }
  return count;
}

/// Meshes that a transform throws beyond what floats can square would break bounds and trees.
void dropFarMeshes(Document& document, Scene& scene, const std::vector<uint32_t>& source) {
  constexpr float kFarthest = 1e18f;
  const Pose pose = poseAt(scene, 0.0);
  for (size_t i = 0; i < scene.nodes.size(); ++i) {
    bool near = true;
    for (int k = 0; k < 16; ++k) near = near && std::abs(pose.world[i][k / 4][k % 4]) <= kFarthest;
    if (near || scene.nodes[i].meshes.empty() || scene.nodes[i].skin != kNone) continue;  // skins have no place
    document.warnings.add("a node's transform reaches beyond 1e18 m: its meshes were left out",
                          fmt::format("nodes[{}]", source[i]));
    scene.nodes[i].meshes.clear();
  }
}

}  // namespace

std::optional<Refusal> buildNodes(Document& document, Scene& scene, MeshTable& meshes,
                                  std::vector<uint32_t>& sceneNode) {
  if (auto refusal = checkSkins(document)) return refusal;
  const auto parents = findParents(document);
  if (!parents) return parents.refusal();
  const std::vector<uint32_t> lights = buildLights(document, scene);
  buildLenses(document, scene);

  // A node is taken from `open` after its parent was: the order of Scene::nodes.
  auto open = findRoots(document, *parents);
  if (!open) return open.refusal();
  size_t drawn = 0, deforming = 0;
  std::vector<uint32_t> source;  // the glTF node that each node of the scene came from
  sceneNode.assign(document.model.nodes.size(), kNone);
  for (size_t at = 0; at < open->size(); ++at) {
    const uint32_t index = (*open)[at];
    const tinygltf::Node& from = document.model.nodes[index];
    const std::string where = fmt::format("nodes[{}]", index);
    sceneNode[index] = static_cast<uint32_t>(scene.nodes.size());
    Node node = makeNode(document, from, lights, where);
    node.parent = (*parents)[index] == kNone ? kNone : sceneNode[(*parents)[index]];
    if (from.mesh >= 0) {
      auto found = meshes.find(from.mesh);
      if (!found) return found.refusal();
      node.meshes = std::move(*found);
      size_t targets = 0;
      for (const uint32_t mesh : node.meshes) targets = std::max<size_t>(targets, scene.meshes[mesh].morphs.count);
      node.weights = morphWeightsOf(document, from, where, targets);
    }
    scene.nodes.push_back(std::move(node));
    if (auto refusal = addInstances(document, from, where, scene)) return refusal;
    for (size_t i = source.size(); i < scene.nodes.size(); ++i) {
      drawn += scene.nodes[i].meshes.size();
      deforming += deformingVertices(scene, scene.nodes[i]);
    }
    if (drawn > kMaxDrawn) return document.no("{}: more than {} primitives are drawn up to here", where, kMaxDrawn);
    if (deforming > kMaxDeforming)
      return document.no("{}: more than {} vertices deform up to here", where, kMaxDeforming);
    source.resize(scene.nodes.size(), index);
    open->insert(open->end(), from.children.begin(), from.children.end());
  }
  dropFarMeshes(document, scene, source);
  return std::nullopt;
}

}  // namespace tandem::scene::gltf
