// KHR_draco_mesh_compression, unpacked by Draco's own decoders. They allocate what the packed bytes announce, so their
// steps are watched here: announced sizes are compared with the accessors before memory is taken for them.
#include <draco/compression/mesh/mesh_edgebreaker_decoder.h>
#include <draco/compression/mesh/mesh_sequential_decoder.h>
#include <draco/core/decoder_buffer.h>
#include <draco/core/varint_decoding.h>
#include <draco/mesh/mesh.h>
#include <tiny_gltf.h>

#include <cstring>
#include <map>
#include <memory>

#include "scene/gltf_extensions.h"

namespace tandem::scene::gltf {

namespace {

using nlohmann::json;

constexpr char kExtension[] = "KHR_draco_mesh_compression";
constexpr uint32_t kMaxFaces = 1u << 24;                // a primitive; the decoder takes about 25 bytes a face up front
constexpr uint64_t kMaxAttributes = uint64_t{1} << 29;  // bytes of all attributes of a primitive
constexpr uint16_t kBitstream22 = 0x0202;               // the version that the extension's text names

/// A decoder of Draco that stops before it takes too much memory. `Base`: MeshEdgebreakerDecoder,
/// MeshSequentialDecoder.
template <class Base>
class Watched : public Base {
 public:
  explicit Watched(uint64_t faces) : faces_(faces) {}
  const std::string& problem() const { return problem_; }

 protected:
  /// Both methods' data begin with two numbers, of which one counts the faces.
  bool DecodeConnectivity() override {
    draco::DecoderBuffer ahead = *this->buffer();
    uint32_t first = 0;
    uint32_t second = 0;
    if (this->bitstream_version() < kBitstream22) return stop("its bitstream is older than version 2.2");
    if (!draco::DecodeVarint(&first, &ahead) || !draco::DecodeVarint(&second, &ahead)) return stop("it is cut off");
    constexpr bool kFacesFirst = std::is_same_v<Base, draco::MeshSequentialDecoder>;
    const uint32_t faces = kFacesFirst ? first : second;
    const uint32_t points = kFacesFirst ? second : first;
    // Encoders may drop triangles without area.
    if (faces > faces_) return stop(fmt::format("it has {} triangles, the indices' accessor has {}", faces, faces_));
    if (points > 3 * uint64_t{faces}) return stop(fmt::format("it has {} vertices for {} triangles", points, faces));
    return Base::DecodeConnectivity();
  }

  bool DecodeAllAttributes() override {
    const draco::PointCloud& cloud = *this->point_cloud();
    uint64_t bytes = 0;
    for (int i = 0; i < cloud.num_attributes(); ++i) {
      constexpr uint64_t kLargestComponent = 8;
      bytes += uint64_t{cloud.num_points()} * static_cast<uint64_t>(cloud.attribute(i)->num_components()) *
               kLargestComponent;
    }
    if (bytes > kMaxAttributes) return stop(fmt::format("its attributes need {} bytes", bytes));
    return Base::DecodeAllAttributes();
  }

 private:
  bool stop(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

  uint64_t faces_;
  std::string problem_;
};

template <class Base>
Expected<std::unique_ptr<draco::Mesh>> decodeWith(draco::DecoderBuffer& buffer, uint64_t faces) {
  auto mesh = std::make_unique<draco::Mesh>();
  Watched<Base> decoder(faces);
  const draco::DecoderOptions options;
  const draco::Status status = decoder.Decode(options, &buffer, mesh.get());
  if (status.ok()) return mesh;
  return Refusal{ExitCode::UnusableInput,
                 decoder.problem().empty() ? printable(status.error_msg_string()) : decoder.problem()};
}

Expected<std::unique_ptr<draco::Mesh>> decode(std::span<const uint8_t> bytes, uint64_t faces) {
  const auto no = [](std::string why) { return Refusal{ExitCode::UnusableInput, std::move(why)}; };
  draco::DecoderBuffer buffer;
  buffer.Init(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  draco::DecoderBuffer ahead = buffer;
  draco::DracoHeader header;
  if (!draco::PointCloudDecoder::DecodeHeader(&ahead, &header).ok()) return no("it has no Draco header");
  if (header.encoder_type != draco::TRIANGULAR_MESH) return no("it holds no triangles");
  switch (header.encoder_method) {
    case draco::MESH_SEQUENTIAL_ENCODING:
      return decodeWith<draco::MeshSequentialDecoder>(buffer, faces);
    case draco::MESH_EDGEBREAKER_ENCODING:
      return decodeWith<draco::MeshEdgebreakerDecoder>(buffer, faces);
    default:
      return no(fmt::format("its encoding {} is unknown", int{header.encoder_method}));
  }
}

/// An attribute's values for all points, in the accessor's component type.
template <class T>
bool copyAttribute(const draco::Mesh& mesh, const draco::PointAttribute& attribute, size_t components,
                   std::vector<uint8_t>& out) {
  out.resize(mesh.num_points() * components * sizeof(T));
  std::vector<T> value(components);
  for (uint32_t p = 0; p < mesh.num_points(); ++p) {
    const draco::AttributeValueIndex index = attribute.mapped_index(draco::PointIndex(p));
    if (index.value() >= attribute.size() ||
        !attribute.ConvertValue<T>(index, static_cast<int8_t>(components), value.data())) {
      return false;
    }
    std::memcpy(out.data() + p * components * sizeof(T), value.data(), components * sizeof(T));
  }
  return true;
}

bool copyAttribute(const draco::Mesh& mesh, const draco::PointAttribute& attribute, int componentType,
                   size_t components, std::vector<uint8_t>& out) {
  switch (componentType) {
    case TINYGLTF_COMPONENT_TYPE_BYTE:
      return copyAttribute<int8_t>(mesh, attribute, components, out);
    case TINYGLTF_COMPONENT_TYPE_UNSIGNED_BYTE:
      return copyAttribute<uint8_t>(mesh, attribute, components, out);
    case TINYGLTF_COMPONENT_TYPE_SHORT:
      return copyAttribute<int16_t>(mesh, attribute, components, out);
    case TINYGLTF_COMPONENT_TYPE_UNSIGNED_SHORT:
      return copyAttribute<uint16_t>(mesh, attribute, components, out);
    case TINYGLTF_COMPONENT_TYPE_UNSIGNED_INT:
      return copyAttribute<uint32_t>(mesh, attribute, components, out);
    default:
      return copyAttribute<float>(mesh, attribute, components, out);
  }
}

size_t componentsOf(const std::string& type) {
  return type == "SCALAR" ? 1 : type == "VEC2" ? 2 : type == "VEC3" ? 3 : type == "VEC4" ? 4 : 0;
}

/// Unpacks the primitives of one document. Primitives with the same packed data and accessors share what comes out.
class Unpacker {
 public:
  Unpacker(Document& document, json& root) : document_(document), root_(root) {}

  std::optional<Refusal> expand(json& primitive, const std::string& where) {
    const std::string key =
        json{primitive["extensions"][kExtension], primitive["attributes"], primitive["indices"]}.dump();
    const auto known = done_.find(key);
    if (known == done_.end()) {
      if (auto refusal = unpack(primitive, where)) return refusal;
      done_[key] = {primitive["attributes"], primitive["indices"]};
    } else {
      primitive["attributes"] = known->second.first;
      primitive["indices"] = known->second.second;
    }
    primitive["extensions"].erase(kExtension);
    return std::nullopt;
  }

 private:
  std::optional<Refusal> unpack(json& primitive, const std::string& where) {
    const std::string path = fmt::format("{}.extensions.{}", where, kExtension);
    const json extension = primitive["extensions"][kExtension];
    const json& view = root_["bufferViews"][extension["bufferView"].get<size_t>()];
    const auto bytes = document_.buffers[view["buffer"].get<size_t>()].bytes.subspan(
        view.value("byteOffset", size_t{0}), view["byteLength"].get<size_t>());
    const auto corners = accessorOf(primitive["indices"])["count"].get<uint64_t>();
    if (corners % 3 != 0 || corners / 3 > kMaxFaces) {
      return document_.no("{}: the indices' accessor has count {}; a multiple of 3 up to {} is allowed", path, corners,
                          3 * uint64_t{kMaxFaces});
    }
    const auto mesh = decode(bytes, corners / 3);
    if (!mesh) return document_.no("{}: the Draco data cannot be unpacked: {}", path, mesh.refusal().message);
    for (const auto& [name, id] : extension["attributes"].items()) {
      if (!primitive["attributes"].contains(name)) continue;
      json& reference = primitive["attributes"][name];
      if (auto refusal = unpackAttribute(**mesh, id.get<uint32_t>(), reference,
                                         fmt::format("{}.attributes.{}", path, printable(name))))
        return refusal;
    }
    return unpackIndices(**mesh, primitive["indices"], path);
  }

  json& accessorOf(const json& reference) { return root_["accessors"][reference.get<size_t>()]; }

  std::optional<Refusal> unpackAttribute(const draco::Mesh& mesh, uint32_t id, json& reference,
                                         const std::string& path) {
    const json accessor = accessorOf(reference);
    const draco::PointAttribute* attribute = mesh.GetAttributeByUniqueId(id);
    const size_t components = componentsOf(accessor["type"].get<std::string>());
    if (attribute == nullptr) return document_.no("{}: the Draco data have no attribute {}", path, id);
    if (accessor["count"].get<uint64_t>() != mesh.num_points()) {
      return document_.no("{}: the Draco data have {} vertices, accessors[{}].count is {}", path, mesh.num_points(),
                          reference.get<size_t>(), accessor["count"].get<uint64_t>());
    }
    std::vector<uint8_t> values;
    if (components == 0 || !takeFromBudget(document_, uint64_t{mesh.num_points()} * components * 4) ||
        !copyAttribute(mesh, *attribute, accessor["componentType"].get<int>(), components, values)) {
      return document_.no("{}: the Draco data do not fit the accessor", path);
    }
    reference = addAccessor(accessor, std::move(values));
    return std::nullopt;
  }

  std::optional<Refusal> unpackIndices(const draco::Mesh& mesh, json& reference, const std::string& path) {
    if (!takeFromBudget(document_, uint64_t{mesh.num_faces()} * 12)) {
      return document_.no("{}: the file's compressed data are too large unpacked", path);
    }
    std::vector<uint8_t> values(size_t{mesh.num_faces()} * 12);
    for (uint32_t f = 0; f < mesh.num_faces(); ++f) {
      for (size_t c = 0; c < 3; ++c) {
        const uint32_t index = mesh.face(draco::FaceIndex(f))[c].value();
        std::memcpy(values.data() + 12 * size_t{f} + 4 * c, &index, 4);
      }
    }
    json accessor = accessorOf(reference);
    accessor["componentType"] = TINYGLTF_COMPONENT_TYPE_UNSIGNED_INT;
    accessor["count"] = 3 * uint64_t{mesh.num_faces()};
    reference = addAccessor(std::move(accessor), std::move(values));
    return std::nullopt;
  }

  /// An accessor like the given one, over bytes of its own; the file's one may serve others.
  size_t addAccessor(json accessor, std::vector<uint8_t> bytes) {
    BufferBytes& buffer = document_.buffers.emplace_back();
    buffer.owned = std::move(bytes);
    buffer.bytes = buffer.owned;
    root_["bufferViews"].push_back({{"buffer", document_.buffers.size() - 1}, {"byteLength", buffer.bytes.size()}});
    accessor["bufferView"] = root_["bufferViews"].size() - 1;
    for (const char* key : {"byteOffset", "sparse"}) accessor.erase(key);
    root_["accessors"].push_back(std::move(accessor));
    return root_["accessors"].size() - 1;
  }

  Document& document_;
  json& root_;
  std::map<std::string, std::pair<json, json>> done_;  // attributes and indices
};

}  // namespace

std::optional<Refusal> expandDraco(Document& document, json& root) {
  if (!root.contains("meshes")) return std::nullopt;
  Unpacker unpacker(document, root);
  json& meshes = root["meshes"];
  for (size_t m = 0; m < meshes.size(); ++m) {
    json& primitives = meshes[m]["primitives"];
    for (size_t p = 0; p < primitives.size(); ++p) {
      json& primitive = primitives[p];
      if (!primitive.contains("extensions") || !primitive["extensions"].contains(kExtension)) continue;
      const std::string where = fmt::format("meshes[{}].primitives[{}]", m, p);
      if (primitive.value("mode", TINYGLTF_MODE_TRIANGLES) != TINYGLTF_MODE_TRIANGLES ||
          !primitive.contains("indices")) {
        return document.no("{}.extensions.{}: only indexed triangle lists are supported", where, kExtension);
      }
      if (auto refusal = unpacker.expand(primitive, where)) return refusal;
    }
  }
  return std::nullopt;
}

}  // namespace tandem::scene::gltf
