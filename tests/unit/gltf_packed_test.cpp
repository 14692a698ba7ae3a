// Geometry packed by Draco and meshoptimizer: what their encoders pack comes out again, and damaged or lying data end
// in a refusal.
#include <draco/compression/encode.h>
#include <draco/mesh/triangle_soup_mesh_builder.h>
#include <meshoptimizer.h>

#include <algorithm>
#include <random>

#include "unit/gltf_files.h"

namespace tandem::scene::test {
namespace {

using Triangle = std::array<vec3, 3>;

class GltfPacked : public GltfFiles {
 protected:
  std::string refusalOf(const json& document) {
    const auto loaded = load(document);
    return loaded ? "loaded" : loaded.refusal().message;
  }
};

// A strip of quads that rises in z; every corner has its own place.
constexpr size_t kQuads = 40;

std::vector<vec3> stripPositions() {
  std::vector<vec3> positions;
  for (size_t i = 0; i <= kQuads; ++i) {
    const auto x = static_cast<float>(i);
    positions.insert(positions.end(), {vec3(x, 0, x * x), vec3(x, 1, x * x)});
  }
  return positions;
}

std::vector<uint32_t> stripIndices() {
  std::vector<uint32_t> indices;
  for (uint32_t i = 0; i < 2 * kQuads; i += 2) {
    indices.insert(indices.end(), {i, i + 2, i + 3, i, i + 3, i + 1});
  }
  return indices;
}

/// The triangles in an order of their own, each begun at its smallest corner: decoders may reorder both.
std::vector<Triangle> sorted(std::vector<Triangle> triangles) {
  const auto less = [](vec3 a, vec3 b) { return std::tie(a.x, a.y, a.z) < std::tie(b.x, b.y, b.z); };
  for (Triangle& t : triangles) std::rotate(t.begin(), std::min_element(t.begin(), t.end(), less), t.end());
  std::sort(triangles.begin(), triangles.end(), [&](const Triangle& a, const Triangle& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), less);
  });
  return triangles;
}

std::vector<Triangle> trianglesOf(const std::vector<vec3>& positions, const std::vector<uint32_t>& indices) {
  std::vector<Triangle> triangles;
  for (size_t i = 0; i < indices.size(); i += 3) {
    triangles.push_back({positions[indices[i]], positions[indices[i + 1]], positions[indices[i + 2]]});
  }
  return sorted(triangles);
}

struct DracoData {
  std::string bytes;
  size_t points = 0;
};

DracoData packWithDraco(int method) {
  const std::vector<Triangle> triangles = trianglesOf(stripPositions(), stripIndices());
  draco::TriangleSoupMeshBuilder builder;
  builder.Start(static_cast<int>(triangles.size()));
  const int position = builder.AddAttribute(draco::GeometryAttribute::POSITION, 3, draco::DT_FLOAT32);
  for (uint32_t f = 0; f < triangles.size(); ++f) {
    builder.SetAttributeValuesForFace(position, draco::FaceIndex(f), &triangles[f][0], &triangles[f][1],
                                      &triangles[f][2]);
  }
  const std::unique_ptr<draco::Mesh> mesh = builder.Finalize();
  draco::Encoder encoder;
  encoder.SetEncodingMethod(method);
  draco::EncoderBuffer buffer;
  EXPECT_TRUE(encoder.EncodeMeshToBuffer(*mesh, &buffer).ok());
  return {std::string(buffer.data(), buffer.size()), mesh->num_points()};
}

json dracoDocument(const DracoData& packed) {
  json document = quadDocument();
  document["extensionsUsed"] = document["extensionsRequired"] = {"KHR_draco_mesh_compression"};
  document["accessors"] = {{{"componentType", kFloat}, {"type", "VEC3"}, {"count", packed.points}},
                           {{"componentType", kUnsignedShort}, {"type", "SCALAR"}, {"count", 6 * kQuads}}};
  primitive(document)["extensions"]["KHR_draco_mesh_compression"] = {{"bufferView", addView(document, packed.bytes)},
                                                                     {"attributes", {{"POSITION", 0}}}};
  return document;
}

class GltfDraco : public GltfPacked, public ::testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("tandem_draco_" + std::to_string(GetParam()) + "_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
};

TEST_P(GltfDraco, TrianglesComeBack) {
  const auto loaded = load(dracoDocument(packWithDraco(GetParam())));
  ASSERT_TRUE(loaded) << loaded.refusal().message;
  const Mesh& mesh = loaded->scene.meshes.at(0);
  EXPECT_EQ(trianglesOf(mesh.positions, mesh.indices), trianglesOf(stripPositions(), stripIndices()));
}

TEST_P(GltfDraco, CountsThatDoNotFitAreRefused) {
  const DracoData packed = packWithDraco(GetParam());
  json vertices = dracoDocument(packed);
  vertices["accessors"][0]["count"] = packed.points + 1;
  EXPECT_NE(refusalOf(vertices).find("POSITION"), std::string::npos) << refusalOf(vertices);
  json indices = dracoDocument(packed);
  indices["accessors"][1]["count"] = 3;
  EXPECT_NE(refusalOf(indices).find("triangles"), std::string::npos) << refusalOf(indices);
  json many = dracoDocument(packed);
  many["accessors"][1]["count"] = uint64_t{1} << 40;
  EXPECT_NE(refusalOf(many).find("count"), std::string::npos) << refusalOf(many);
  json attribute = dracoDocument(packed);
  primitive(attribute)["extensions"]["KHR_draco_mesh_compression"]["attributes"]["POSITION"] = 5;
  EXPECT_NE(refusalOf(attribute).find("attribute 5"), std::string::npos) << refusalOf(attribute);
  json text = dracoDocument({"these are not Draco data", packed.points});
  EXPECT_NE(refusalOf(text).find("Draco"), std::string::npos) << refusalOf(text);
}

/// Single bytes changed, and the end cut off: whatever comes out, the indices are in range.
TEST_P(GltfDraco, DamagedDataDoNotCrash) {
  const DracoData packed = packWithDraco(GetParam());
  std::mt19937 random(7);
  for (int i = 0; i < 400; ++i) {
    DracoData damaged = packed;
    damaged.bytes[random() % damaged.bytes.size()] = static_cast<char>(random());
    if (i % 4 == 0) damaged.bytes.resize(1 + random() % damaged.bytes.size());
    const auto loaded = load(dracoDocument(damaged));
    if (!loaded || loaded->scene.meshes.empty()) continue;
    const Mesh& mesh = loaded->scene.meshes[0];
    for (const uint32_t index : mesh.indices) ASSERT_LT(index, mesh.positions.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, GltfDraco,
                         ::testing::Values(draco::MESH_SEQUENTIAL_ENCODING, draco::MESH_EDGEBREAKER_ENCODING));

/// A view's packed bytes in a buffer of their own; the view itself points into a fallback buffer without bytes.
size_t addPackedView(json& document, const std::string& packed, size_t count, size_t stride, const std::string& mode,
                     const std::string& filter = "NONE") {
  const size_t view = addView(document, packed);
  const size_t buffer = document["bufferViews"][view]["buffer"];
  document["buffers"].push_back({{"byteLength", count * stride}});
  document["buffers"].back()["extensions"]["EXT_meshopt_compression"]["fallback"] = true;
  json& target = document["bufferViews"][view];
  target = {{"buffer", document["buffers"].size() - 1}, {"byteLength", count * stride}};
  if (mode == "ATTRIBUTES") target["byteStride"] = stride;
  target["extensions"]["EXT_meshopt_compression"] = {{"buffer", buffer},     {"byteLength", packed.size()},
                                                     {"byteStride", stride}, {"count", count},
                                                     {"mode", mode},         {"filter", filter}};
  return view;
}

std::string packVertices(const void* vertices, size_t count, size_t stride) {
  std::string packed(meshopt_encodeVertexBufferBound(count, stride), '\0');
  meshopt_encodeVertexVersion(0);
  packed.resize(
      meshopt_encodeVertexBuffer(reinterpret_cast<uint8_t*>(packed.data()), packed.size(), vertices, count, stride));
  return packed;
}

json meshoptDocument(bool sequence) {
  json document = quadDocument();
  document["extensionsUsed"] = document["extensionsRequired"] = {"EXT_meshopt_compression"};
  const auto positions = stripPositions();
  const auto indices = stripIndices();
  const size_t vertices = addPackedView(document, packVertices(positions.data(), positions.size(), sizeof(vec3)),
                                        positions.size(), sizeof(vec3), "ATTRIBUTES");
  std::string packed(1 << 16, '\0');
  auto* bytes = reinterpret_cast<uint8_t*>(packed.data());
  packed.resize(sequence ? meshopt_encodeIndexSequence(bytes, packed.size(), indices.data(), indices.size())
                         : meshopt_encodeIndexBuffer(bytes, packed.size(), indices.data(), indices.size()));
  const size_t list = addPackedView(document, packed, indices.size(), 2, sequence ? "INDICES" : "TRIANGLES");
  document["accessors"] = {
      {{"bufferView", vertices}, {"componentType", kFloat}, {"type", "VEC3"}, {"count", positions.size()}},
      {{"bufferView", list}, {"componentType", kUnsignedShort}, {"type", "SCALAR"}, {"count", indices.size()}}};
  return document;
}

TEST_F(GltfPacked, MeshoptTrianglesComeBack) {
  for (const bool sequence : {false, true}) {
    const auto loaded = load(meshoptDocument(sequence));
    ASSERT_TRUE(loaded) << loaded.refusal().message;
    const Mesh& mesh = loaded->scene.meshes.at(0);
    EXPECT_EQ(trianglesOf(mesh.positions, mesh.indices), trianglesOf(stripPositions(), stripIndices()));
  }
}

TEST_F(GltfPacked, MeshoptFilters) {
  json document = quadDocument();
  document["extensionsUsed"] = document["extensionsRequired"] = {"EXT_meshopt_compression", "KHR_mesh_quantization"};
  const vec4 normal = vec4(0.6f, 0.0f, 0.8f, 0.0f);
  const std::vector<vec4> normals(4, normal);
  std::vector<int8_t> octahedral(16);
  meshopt_encodeFilterOct(octahedral.data(), 4, 4, 8, &normals[0].x);
  const std::vector<vec3> positions{{0, 0, 0.25f}, {1, 0, 0.25f}, {1, 1, 0.25f}, {0, 1, 0.25f}};
  std::vector<uint32_t> exponential(12);
#if MESHOPTIMIZER_VERSION >= 190
  meshopt_encodeFilterExp(exponential.data(), 4, 12, 15, &positions[0].x, meshopt_EncodeExpSharedVector);
#else
  meshopt_encodeFilterExp(exponential.data(), 4, 12, 15, &positions[0].x);
#endif
  const size_t normalView =
      addPackedView(document, packVertices(octahedral.data(), 4, 4), 4, 4, "ATTRIBUTES", "OCTAHEDRAL");
  const size_t positionView =
      addPackedView(document, packVertices(exponential.data(), 4, 12), 4, 12, "ATTRIBUTES", "EXPONENTIAL");
  document["accessors"].push_back(
      {{"bufferView", normalView}, {"componentType", kByte}, {"normalized", true}, {"type", "VEC3"}, {"count", 4}});
  document["accessors"][0]["bufferView"] = positionView;
  primitive(document)["attributes"]["NORMAL"] = document["accessors"].size() - 1;
  const auto loaded = load(document);
  ASSERT_TRUE(loaded) << loaded.refusal().message;
  const Mesh& mesh = loaded->scene.meshes.at(0);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_LT(glm::length(mesh.normals[i] - vec3(normal)), 0.02f);  // 8 bits
    EXPECT_LT(glm::length(mesh.positions[i] - positions[i]), 1e-3f);
  }
}

TEST_F(GltfPacked, MeshoptFieldsAreChecked) {
  const std::pair<std::string, json> changes[] = {
      {"count", uint64_t{0}}, {"count", 0x7fffffff},   {"count", 600},
      {"byteStride", 0},      {"byteStride", 6},       {"byteStride", 260},
      {"mode", "POINTS"},     {"mode", "TRIANGLES"},   {"filter", "QUATERNION"},
      {"filter", "GAUSSIAN"}, {"byteLength", 1000000}, {"byteOffset", 18446744073709551600u},
      {"buffer", 99}};
  for (const auto& [field, value] : changes) {
    json document = meshoptDocument(false);
    for (json& view : document["bufferViews"]) {
      if (view.contains("byteStride")) view["extensions"]["EXT_meshopt_compression"][field] = value;
    }
    EXPECT_NE(refusalOf(document).find("EXT_meshopt_compression"), std::string::npos)
        << field << " " << value << ": " << refusalOf(document);
  }
}

TEST_F(GltfPacked, DamagedMeshoptDataDoNotCrash) {
  std::mt19937 random(11);
  for (int i = 0; i < 400; ++i) {
    json document = meshoptDocument(i % 2 == 0);
    json& buffer = document["buffers"][i % 3 == 0 ? 2 : 4];
    std::string uri = buffer["uri"];
    const size_t data = uri.find(',') + 1;
    uri[data + random() % (uri.size() - data - 2)] = "AQgw/"[random() % 5];
    buffer["uri"] = uri;
    const auto loaded = load(document);
    if (!loaded || loaded->scene.meshes.empty()) continue;
    const Mesh& mesh = loaded->scene.meshes[0];
    for (const uint32_t index : mesh.indices) ASSERT_LT(index, mesh.positions.size());
  }
}

}  // namespace
}  // namespace tandem::scene::test
