#include "scene/gltf_accessor.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

namespace tandem::scene::gltf {

namespace {

constexpr size_t kMaxZeros =
    size_t{1} << 24;  // elements of an accessor without a view: nothing in the file backs its count

size_t bytesOf(int componentType) {
  return static_cast<size_t>(tinygltf::GetComponentSizeInBytes(static_cast<uint32_t>(componentType)));
}

/// Elements somewhere in a buffer.
struct Source {
  const uint8_t* data = nullptr;
  size_t stride = 0;
};

std::span<const uint8_t> viewBytes(const Document& document, int view) {
  const tinygltf::BufferView& v = document.model.bufferViews[static_cast<size_t>(view)];
  return document.buffers[static_cast<size_t>(v.buffer)].bytes.subspan(v.byteOffset, v.byteLength);
}

/// Whether `count` elements of `size` bytes, `stride` apart, fit from `offset` on. No sum or product can wrap.
bool fits(size_t length, size_t offset, size_t count, size_t stride, size_t size) {
  return offset <= length && size <= length - offset && count - 1 <= (length - offset - size) / stride;
}

std::optional<Refusal> checkSparse(const Document& document, size_t i, size_t elementSize) {
  const tinygltf::Accessor& accessor = document.model.accessors[i];
  const auto& sparse = accessor.sparse;
  const auto count = static_cast<size_t>(sparse.count);
  if (count == 0 || count > accessor.count) {
    return document.no("accessors[{}].sparse.count: {} is not between 1 and the accessor's count {}", i, count,
                       accessor.count);
  }
  const int type = sparse.indices.componentType;
  if (type != TINYGLTF_COMPONENT_TYPE_UNSIGNED_BYTE && type != TINYGLTF_COMPONENT_TYPE_UNSIGNED_SHORT &&
      type != TINYGLTF_COMPONENT_TYPE_UNSIGNED_INT) {
    return document.no("accessors[{}].sparse.indices.componentType: {} is not an unsigned integer type", i, type);
  }
  const size_t indexSize = bytesOf(type);
  if (!fits(viewBytes(document, sparse.indices.bufferView).size(), static_cast<size_t>(sparse.indices.byteOffset),
            count, indexSize, indexSize)) {
    return document.no("accessors[{}].sparse.indices: {} elements pass the end of bufferViews[{}]", i, count,
                       sparse.indices.bufferView);
  }
  if (!fits(viewBytes(document, sparse.values.bufferView).size(), static_cast<size_t>(sparse.values.byteOffset), count,
            elementSize, elementSize)) {
    return document.no("accessors[{}].sparse.values: {} elements pass the end of bufferViews[{}]", i, count,
                       sparse.values.bufferView);
  }
  return std::nullopt;
}

std::optional<Refusal> checkAccessor(const Document& document, size_t i) {
  const tinygltf::Accessor& accessor = document.model.accessors[i];
  const size_t size = bytesOf(accessor.componentType) * static_cast<size_t>(componentsOf(accessor));
  if (accessor.count == 0) return document.no("accessors[{}].count: must be at least 1", i);
  if (accessor.bufferView < 0) {
    if (accessor.count > kMaxZeros) {
      return document.no("accessors[{}].count: {} elements without a bufferView are more than {}", i, accessor.count,
                         kMaxZeros);
    }
  } else {
    const tinygltf::BufferView& view = document.model.bufferViews[static_cast<size_t>(accessor.bufferView)];
    const size_t stride = view.byteStride != 0 ? view.byteStride : size;
    if (stride < size) {
      return document.no("accessors[{}]: elements of {} bytes overlap, bufferViews[{}].byteStride is {}", i, size,
                         accessor.bufferView, stride);
    }
    if (!fits(view.byteLength, accessor.byteOffset, accessor.count, stride, size)) {
      return document.no(
          "accessors[{}]: byteOffset {} and count {} (elements of {} bytes, byteStride {}) pass the end of "
          "bufferViews[{}], which has {} bytes",
          i, accessor.byteOffset, accessor.count, size, stride, accessor.bufferView, view.byteLength);
    }
  }
  return accessor.sparse.isSparse ? checkSparse(document, i, size) : std::nullopt;
}

Source sourceOf(const Document& document, const tinygltf::Accessor& accessor, size_t elementSize) {
  if (accessor.bufferView < 0) return {};
  const size_t stride = document.model.bufferViews[static_cast<size_t>(accessor.bufferView)].byteStride;
  return {viewBytes(document, accessor.bufferView).data() + accessor.byteOffset, stride != 0 ? stride : elementSize};
}

/// One element's components. Byte by byte, since views may be unaligned. Normalised integers: glTF 2.0 section 3.11.
template <class T, class Out>
void readElement(const uint8_t* from, size_t components, bool normalised, Out* to) {
  for (size_t c = 0; c < components; ++c) {
    T value;
    std::memcpy(&value, from + c * sizeof(T), sizeof(T));
    if constexpr (std::is_same_v<T, float> || std::is_same_v<Out, uint32_t>) {
      to[c] = static_cast<Out>(value);
    } else {
      const auto f = static_cast<float>(value);
      to[c] = static_cast<Out>(normalised ? std::max(f / static_cast<float>(std::numeric_limits<T>::max()), -1.0f) : f);
    }
  }
}

template <class T, class Out>
void readElements(Source source, size_t count, size_t components, bool normalised, std::vector<Out>& out) {
  if constexpr (std::is_same_v<T, Out>) {
    if (source.stride == components * sizeof(T)) {
      std::memcpy(out.data(), source.data, count * source.stride);
      return;
    }
  }
  for (size_t i = 0; i < count; ++i) {
    readElement<T>(source.data + i * source.stride, components, normalised, out.data() + i * components);
  }
}

/// Calls `body` with a value of the C++ type behind a component type.
template <class Body>
void withType(int componentType, const Body& body) {
  switch (componentType) {
    case TINYGLTF_COMPONENT_TYPE_BYTE:
      body(int8_t{});
      break;
    case TINYGLTF_COMPONENT_TYPE_UNSIGNED_BYTE:
      body(uint8_t{});
      break;
    case TINYGLTF_COMPONENT_TYPE_SHORT:
      body(int16_t{});
      break;
    case TINYGLTF_COMPONENT_TYPE_UNSIGNED_SHORT:
      body(uint16_t{});
      break;
    case TINYGLTF_COMPONENT_TYPE_UNSIGNED_INT:
      body(uint32_t{});
      break;
    default:
      body(float{});
      break;
  }
}

/// Replaces single elements, glTF 2.0 section 3.6.2.3.
template <class Out>
std::optional<Refusal> applySparse(const Document& document, int index, bool normalised, std::vector<Out>& out) {
  const tinygltf::Accessor& accessor = document.model.accessors[static_cast<size_t>(index)];
  const auto& sparse = accessor.sparse;
  const auto components = static_cast<size_t>(componentsOf(accessor));
  const auto count = static_cast<size_t>(sparse.count);
  const uint8_t* indices =
      viewBytes(document, sparse.indices.bufferView).data() + static_cast<size_t>(sparse.indices.byteOffset);
  const uint8_t* values =
      viewBytes(document, sparse.values.bufferView).data() + static_cast<size_t>(sparse.values.byteOffset);
  std::vector<uint32_t> targets(count);
  withType(sparse.indices.componentType, [&](auto type) {
    readElements<decltype(type)>({indices, sizeof(type)}, count, 1, false, targets);
  });
  for (size_t i = 0; i < count; ++i) {
    if (targets[i] >= accessor.count) {
      return document.no("accessors[{}].sparse.indices: {} is out of range, the accessor's count is {}", index,
                         targets[i], accessor.count);
    }
    withType(accessor.componentType, [&](auto type) {
      readElement<decltype(type)>(values + i * components * sizeof(type), components, normalised,
                                  out.data() + targets[i] * components);
    });
  }
  return std::nullopt;
}

template <class Out>
Expected<std::vector<Out>> readAll(const Document& document, int index, bool normalised) {
  const tinygltf::Accessor& accessor = document.model.accessors[static_cast<size_t>(index)];
  const auto components = static_cast<size_t>(componentsOf(accessor));
  std::vector<Out> out(accessor.count * components);
  const Source source = sourceOf(document, accessor, bytesOf(accessor.componentType) * components);
  if (source.data != nullptr) {
    withType(accessor.componentType,
             [&](auto type) { readElements<decltype(type)>(source, accessor.count, components, normalised, out); });
  }
  if (accessor.sparse.isSparse) {
    if (auto refusal = applySparse(document, index, normalised, out)) return *refusal;
  }
  return out;
}

}  // namespace

int componentsOf(const tinygltf::Accessor& accessor) {
  return tinygltf::GetNumComponentsInType(static_cast<uint32_t>(accessor.type));
}

std::optional<Refusal> checkAccessors(const Document& document) {
  for (size_t i = 0; i < document.model.accessors.size(); ++i) {
    if (auto refusal = checkAccessor(document, i)) return refusal;
  }
  return std::nullopt;
}

Expected<std::vector<float>> readFloats(const Document& document, int accessor, Integers integers) {
  const bool normalised =
      integers == Integers::Normalised || document.model.accessors[static_cast<size_t>(accessor)].normalized;
  return readAll<float>(document, accessor, normalised);
}

Expected<std::vector<uint32_t>> readIndices(const Document& document, int accessor, const std::string& where) {
  const tinygltf::Accessor& a = document.model.accessors[static_cast<size_t>(accessor)];
  if (a.componentType != TINYGLTF_COMPONENT_TYPE_UNSIGNED_BYTE &&
      a.componentType != TINYGLTF_COMPONENT_TYPE_UNSIGNED_SHORT &&
      a.componentType != TINYGLTF_COMPONENT_TYPE_UNSIGNED_INT) {
    return document.no("{}: accessors[{}].componentType {} is not an unsigned integer type", where, accessor,
                       a.componentType);
  }
  if (a.type != TINYGLTF_TYPE_SCALAR) return document.no("{}: accessors[{}].type is not SCALAR", where, accessor);
  return readAll<uint32_t>(document, accessor, false);
}

template <class Vec>
Expected<std::vector<Vec>> readVectors(const Document& document, int accessor, const std::string& where,
                                       Integers integers) {
  constexpr int kLength = Vec::length();
  const tinygltf::Accessor& a = document.model.accessors[static_cast<size_t>(accessor)];
  if (componentsOf(a) != kLength || a.type == TINYGLTF_TYPE_MAT2) {
    return document.no("{}: accessors[{}].type is not VEC{}", where, accessor, kLength);
  }
  static_assert(sizeof(Vec) == sizeof(float) * kLength);
  const auto floats = readFloats(document, accessor, integers);
  if (!floats) return floats.refusal();
  std::vector<Vec> vectors(a.count);
  std::memcpy(static_cast<void*>(vectors.data()), floats->data(), floats->size() * sizeof(float));
  return vectors;
}

template Expected<std::vector<vec2>> readVectors(const Document&, int, const std::string&, Integers);
template Expected<std::vector<vec3>> readVectors(const Document&, int, const std::string&, Integers);
template Expected<std::vector<vec4>> readVectors(const Document&, int, const std::string&, Integers);

}  // namespace tandem::scene::gltf
