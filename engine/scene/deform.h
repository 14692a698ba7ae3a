// Skins and morph targets on the CPU: what the deforming passes do on a device (shaders/trace/deform.comp), for trees,
// bounds, lights and tests. glTF 2.0 sections 3.7.2.2 and 3.7.3. Pure functions, thread-safe.
#pragma once

#include <span>
#include <vector>

#include "scene/animation.h"
#include "scene/scene.h"

namespace tandem::scene {

/// Whether a mesh at a node wears the node's skin: its vertices then go straight to the world.
bool isSkinned(const Scene& scene, uint32_t node, uint32_t mesh);

/// Whether its shape differs from the mesh's own at any time: it is skinned, or morph targets pull at it.
bool deforms(const Scene& scene, uint32_t node, uint32_t mesh);

/// Per joint the matrix that brings a vertex into the world: world(joint) * inverse bind matrix.
std::vector<mat4> jointMatrices(const Skin& skin, const Pose& pose);

/// The weights of a node's morph targets in a pose, `count` of them.
std::vector<float> morphWeights(const Pose& pose, uint32_t node, uint32_t count);

/// The positions of a mesh in a pose: in the world where it is skinned, else in its node's space.
std::vector<vec3> deformedPositions(const Scene& scene, uint32_t node, uint32_t mesh, const Pose& pose);

/// The mesh itself in a pose, with normals and tangents, as if it had been made so: in the world where it is skinned.
Mesh deformedMesh(const Scene& scene, uint32_t node, uint32_t mesh, const Pose& pose);

}  // namespace tandem::scene
