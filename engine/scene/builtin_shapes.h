// Parts of scenes made in code: meshes in object space, nodes that hold them. Private to the builtin scenes.
#pragma once

#include <string>

#include "scene/scene.h"

namespace tandem::scene {

/// A box around the origin, flat faces, outward normals.
Mesh makeBox(vec3 halfSize, uint32_t material);

/// A sphere around the origin with smooth normals: 2 * segments * (rings - 1) triangles, poles on the Y axis.
Mesh makeSphere(float radius, uint32_t segments, uint32_t rings, uint32_t material);

/// A parallelogram corner + s * edgeU + t * edgeV, s and t in [0, 1]; its normal is edgeU x edgeV.
Mesh makeQuad(vec3 corner, vec3 edgeU, vec3 edgeV, uint32_t material);

/// A wheel in the XY plane: rim, hub and `spokes` spokes, outer radius `radius`, made of boxes.
Mesh makeWheel(float radius, float thickness, uint32_t spokes, uint32_t material);

/// Moves or turns all points and normals of a mesh.
void transformMesh(Mesh& mesh, vec3 translation, quat rotation);

/// Appends the triangles of `part`.
void appendMesh(Mesh& mesh, const Mesh& part);

/// The scene "skinned", with about so many skinned vertices.
Scene makeSkinned(uint64_t vertices);

uint32_t addMaterial(Scene& scene, std::string name, vec3 baseColor, float roughness);
uint32_t addEmitter(Scene& scene, std::string name, vec3 radiance);

/// Adds the mesh and a node that shows it; returns the node.
uint32_t addShape(Scene& scene, std::string name, Mesh mesh, vec3 translation = vec3(0.0f));

/// Adds a perspective camera at `eye` that looks at `target`; yfov in degrees.
void addCamera(Scene& scene, std::string name, vec3 eye, vec3 target, float yfovDegrees);

/// Adds a directional light that shines along `direction`; lux on a surface that faces it.
void addSun(Scene& scene, vec3 direction, vec3 color, float lux);

}  // namespace tandem::scene
