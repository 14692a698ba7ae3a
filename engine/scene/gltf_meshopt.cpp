// EXT_meshopt_compression, unpacked by meshoptimizer. The decoders check the packed bytes; their arguments they only
// assert, so all of those are checked here.
#include <meshoptimizer.h>

#include "scene/gltf_extensions.h"

namespace tandem::scene::gltf {

namespace {

using nlohmann::json;

constexpr char kExtension[] = "EXT_meshopt_compression";

struct Packed {
  std::span<const uint8_t> bytes;
  size_t count = 0;
  size_t stride = 0;
  std::string mode;
  std::string filter;
};

/// What the extension's text forbids, and what no packing could reach; empty: nothing.
std::string findProblem(const Packed& packed) {
  const bool attributes = packed.mode == "ATTRIBUTES";
  if (!attributes && packed.mode != "TRIANGLES" && packed.mode != "INDICES") {
    return fmt::format("mode: '{}' is none of ATTRIBUTES, TRIANGLES, INDICES", printable(packed.mode));
  }
  if (attributes ? packed.stride == 0 || packed.stride % 4 != 0 || packed.stride > 256
                 : packed.stride != 2 && packed.stride != 4) {
    return fmt::format("byteStride: {} is not allowed with mode {}", packed.stride, packed.mode);
  }
  if (packed.count == 0) return "count: must be at least 1";
  if (packed.mode == "TRIANGLES" && packed.count % 3 != 0) return "count: is not a multiple of 3";
  if (packed.filter != "NONE") {
    const bool known = packed.filter == "OCTAHEDRAL"    ? packed.stride == 4 || packed.stride == 8
                       : packed.filter == "QUATERNION"  ? packed.stride == 8
                       : packed.filter == "EXPONENTIAL" ? true
                                                        : false;
    if (!attributes || !known) {
      return fmt::format("filter: '{}' is unknown, or not allowed with mode {} and byteStride {}",
                         printable(packed.filter), packed.mode, packed.stride);
    }
  }
  // 16 vertices of 1 byte take 2 bits at least; an index takes a third of a byte, and has 4 bytes at most.
  constexpr uint64_t kBestRatio = 64;
  const uint64_t size = uint64_t{packed.count} * packed.stride;
  if (size > kBestRatio * packed.bytes.size()) {
    return fmt::format("count: {} elements cannot come from {} packed bytes", packed.count, packed.bytes.size());
  }
  return {};
}

/// Whether the packed bytes made sense.
bool unpack(const Packed& packed, std::vector<uint8_t>& out) {
  out.resize(packed.count * packed.stride);
  const uint8_t* bytes = packed.bytes.data();
  const size_t size = packed.bytes.size();
  if (packed.mode == "TRIANGLES") {
    return meshopt_decodeIndexBuffer(out.data(), packed.count, packed.stride, bytes, size) == 0;
  }
  if (packed.mode == "INDICES") {
    return meshopt_decodeIndexSequence(out.data(), packed.count, packed.stride, bytes, size) == 0;
  }
  if (meshopt_decodeVertexBuffer(out.data(), packed.count, packed.stride, bytes, size) != 0) return false;
  if (packed.filter == "OCTAHEDRAL") meshopt_decodeFilterOct(out.data(), packed.count, packed.stride);
  if (packed.filter == "QUATERNION") meshopt_decodeFilterQuat(out.data(), packed.count, packed.stride);
  if (packed.filter == "EXPONENTIAL") meshopt_decodeFilterExp(out.data(), packed.count, packed.stride);
  return true;
}

std::optional<Refusal> expandView(Document& document, json& view, const std::string& where) {
  const json& extension = view["extensions"][kExtension];
  const auto source = extension["buffer"].get<size_t>();
  const auto bytes = document.buffers[source].bytes;
  const auto offset = extension.value("byteOffset", uint64_t{0});
  const auto length = extension["byteLength"].get<uint64_t>();
  if (offset > bytes.size() || length > bytes.size() - offset) {
    return document.no("{}: byteOffset {} + byteLength {} pass the end of buffers[{}], which has {} bytes", where,
                       offset, length, source, bytes.size());
  }
  const Packed packed{bytes.subspan(offset, length), extension["count"].get<size_t>(),
                      extension["byteStride"].get<size_t>(), extension["mode"].get<std::string>(),
                      extension.value("filter", "NONE")};
  if (const std::string problem = findProblem(packed); !problem.empty()) return document.no("{}.{}", where, problem);
  const auto viewLength = view["byteLength"].get<uint64_t>();
  if (viewLength > packed.count * packed.stride) {
    return document.no("{}: {} bytes unpacked are fewer than the view's byteLength {}", where,
                       packed.count * packed.stride, viewLength);
  }
  if (!takeFromBudget(document, uint64_t{packed.count} * packed.stride)) {
    return document.no("{}.count: the file's compressed data are too large unpacked", where);
  }
  BufferBytes unpacked;
  if (!unpack(packed, unpacked.owned)) return document.no("{}: the packed bytes are damaged", where);
  unpacked.bytes = unpacked.owned;
  view["buffer"] = document.buffers.size();
  view["byteOffset"] = 0;
  view["extensions"].erase(kExtension);
  document.buffers.push_back(std::move(unpacked));
  return std::nullopt;
}

}  // namespace

bool isFallback(const json& buffer) {
  const json::json_pointer pointer(std::string("/extensions/") + kExtension + "/fallback");
  return buffer.contains(pointer) && buffer[pointer].get<bool>();
}

std::optional<Refusal> expandMeshopt(Document& document, json& root) {
  if (!root.contains("bufferViews")) return std::nullopt;
  json& views = root["bufferViews"];
  for (size_t i = 0; i < views.size(); ++i) {
    if (!views[i].contains("extensions") || !views[i]["extensions"].contains(kExtension)) continue;
    const std::string where = fmt::format("bufferViews[{}].extensions.{}", i, kExtension);
    if (auto refusal = expandView(document, views[i], where)) return refusal;
  }
  return std::nullopt;
}

}  // namespace tandem::scene::gltf
