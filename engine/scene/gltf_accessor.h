// Typed reads from glTF accessors: strides, unaligned views, normalised integers, sparse values. Private to the glTF
// loader.
#pragma once

#include "base/math.h"
#include "scene/gltf_document.h"

namespace tandem::scene::gltf {

/// All accessors lie inside their views and have at least one element; to be called once, before anything is read.
std::optional<Refusal> checkAccessors(const Document& document);

/// How integers become floats: as the accessor's `normalized` says, or always normalised (for files that forget to say
/// so).
enum class Integers { AsSaid, Normalised };

/// All components of all elements, one after the other.
Expected<std::vector<float>> readFloats(const Document& document, int accessor, Integers integers = Integers::AsSaid);

/// Unsigned integers of 8, 16 or 32 bits. `where` is the JSON path of the reference, for refusals.
Expected<std::vector<uint32_t>> readIndices(const Document& document, int accessor, const std::string& where);

/// Floats in the shape of vec2, vec3 or vec4; refuses other types than VEC2, VEC3, VEC4.
template <class Vec>
Expected<std::vector<Vec>> readVectors(const Document& document, int accessor, const std::string& where,
                                       Integers integers = Integers::AsSaid);

/// Components an element: 1, 2, 3, 4 (VEC4, MAT2), 9, 16.
int componentsOf(const tinygltf::Accessor& accessor);

}  // namespace tandem::scene::gltf
