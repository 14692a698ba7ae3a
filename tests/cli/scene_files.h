// A small glTF scene on disk: one triangle, its points and indices in a file beside it.
#pragma once

#include "cli/run_program.h"

namespace tandem::cli {

/// scene.gltf's document; points.bin holds three points (36 bytes) and three 16-bit indices.
inline json triangleDocument() {
  return json::parse(R"({
    "asset": {"version": "2.0"},
    "buffers": [{"byteLength": 42, "uri": "points.bin"}],
    "bufferViews": [{"buffer": 0, "byteLength": 36}, {"buffer": 0, "byteOffset": 36, "byteLength": 6}],
    "accessors": [{"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 3},
                  {"bufferView": 1, "componentType": 5123, "type": "SCALAR", "count": 3}],
    "materials": [{"name": "paint"}],
    "meshes": [{"name": "triangle", "primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "material": 0}]}],
    "nodes": [{"mesh": 0}],
    "scenes": [{"nodes": [0]}],
    "scene": 0
  })");
}

inline std::string triangleBytes(std::vector<uint16_t> indices = {0, 1, 2}) {
  const float points[] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  return std::string(reinterpret_cast<const char*>(points), sizeof(points)) +
         std::string(reinterpret_cast<const char*>(indices.data()), indices.size() * sizeof(uint16_t));
}

}  // namespace tandem::cli
