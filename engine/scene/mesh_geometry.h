// What a mesh needs after it was read: sound triangles, normals, tangents. Object space.
#pragma once

#include "scene/scene.h"

namespace tandem::scene {

/// Leaves out triangles that have a position which is not finite or is farther than 1e18 m from the origin (its square
/// would overflow), and those without area. Positions that no one may use any more are set to a good one. Returns how
/// many triangles went because of their positions; those without area are not counted, since they show nothing.
size_t dropUnusableTriangles(Mesh& mesh);

/// One vertex per triangle corner, with the triangle's own normal: glTF's answer to missing normals.
void makeFlatNormals(Mesh& mesh);

/// Normalises; what cannot be normalised gets the mean normal of its triangles. Returns how many those were.
size_t repairNormals(Mesh& mesh);

/// Tangents along the u axis of the texture coordinates as `use` moves them; per vertex the mean over its triangles,
/// weighted by the angle at the vertex. (Lengyel, Foundations of Game Engine Development 2, section 7.5.)
void makeTangents(Mesh& mesh, const TextureUse& use);

/// Makes tangents orthogonal to the normals, of unit length, with handedness +1 or -1. Returns how many had to be made
/// up.
size_t repairTangents(Mesh& mesh);

}  // namespace tandem::scene
