// Where two ways of tracing may differ: only where double precision shows that the question was too close to call in
// single precision.
#pragma once

#include <algorithm>
#include <cmath>

#include "gpu/traced_scene.h"

namespace tandem::test {

/// How far a ray's line passes by a segment, and t there.
inline double distanceToEdge(const Ray& ray, const dvec3& p, const dvec3& q) {
  const dvec3 d = glm::normalize(dvec3(ray.direction)), o(ray.origin), e = q - p;
  // Of all points of the segment, the one nearest to the line: minimise |w + s f| where w, f are what is across the
  // line.
  const auto across = [&](const dvec3& v) { return v - d * glm::dot(v, d); };
  const dvec3 w = across(p - o), f = across(e);
  const double s = glm::dot(f, f) > 0.0 ? glm::clamp(-glm::dot(w, f) / glm::dot(f, f), 0.0, 1.0) : 0.0;
  return glm::length(w + s * f);
}

/// A triangle that was claimed hit, and where in double precision the ray meets its plane.
struct Claim {
  dvec3 corner[3];
  double size = 0.0;    // of the numbers that were rounded: the largest of corners and origin
  double cosine = 0.0;  // between ray and normal
  double t = 0.0;
  double slack = 0.0;  // how far t moves when the plane moves by 2e-6 of `size`

  Claim(const TracedScene& scene, const Ray& ray, const Result& hit) : size(glm::length(dvec3(ray.origin))) {
    for (int k = 0; k < 3; k++) {
      corner[k] = scene.corner(hit.instance, hit.primitive, k);
      size = std::max(size, glm::length(corner[k]));
    }
    const dvec3 origin(ray.origin), direction(ray.direction);
    const dvec3 normal = glm::normalize(glm::cross(corner[1] - corner[0], corner[2] - corner[0]));
    cosine = glm::dot(normal, glm::normalize(direction));
    t = glm::dot(corner[0] - origin, normal) / glm::dot(normal, direction);
    slack = 2e-6 * size / (std::abs(cosine) * glm::length(direction));
  }
};

/// Whether double precision shows that this claim of a hit was too close to call: the ray passes an edge, or runs
/// within the plane, or meets the plane at a limit of t.
inline bool closeCall(const TracedScene& scene, const Ray& ray, const Result& hit) {
  const Claim claim(scene, ray, hit);
  for (int k = 0; k < 3; k++) {
    if (distanceToEdge(ray, claim.corner[k], claim.corner[(k + 1) % 3]) < 1e-5 * claim.size) return true;
  }
  if (std::abs(claim.cosine) < 1e-4) return true;
  return std::abs(claim.t - double(ray.tMin)) < claim.slack || std::abs(claim.t - double(ray.tMax)) < claim.slack;
}

/// How far two t may differ: what rounding at the scene's scale moves a hit along the ray.
inline bool sameDistance(const Ray& ray, double a, double b) {
  return std::abs(a - b) <= 1e-4 * std::max(std::abs(a), 1.0 / glm::length(dvec3(ray.direction)));
}

inline bool agree(const Ray& ray, const Result& ours, const Result& theirs) {
  if (ours.hit() != theirs.hit() || ours.blocked() != theirs.blocked() || ours.hit() != ours.blocked()) return false;
  if (!ours.hit()) return ours.t == ray.tMax;
  return ours.instance == theirs.instance && ours.primitive == theirs.primitive &&
         sameDistance(ray, ours.t, theirs.t) && glm::length(ours.barycentrics - theirs.barycentrics) < 1e-2f;
}

/// Whether the two name different triangles that lie in one plane where the ray meets them (a box that stands on a
/// floor): a question with two right answers, and no mismatch. Not where the ray passes an edge of either.
inline bool tied(const TracedScene& scene, const Ray& ray, const Result& ours, const Result& theirs) {
  if (!ours.hit() || !theirs.hit() || !ours.blocked() || !theirs.blocked()) return false;
  if (ours.instance == theirs.instance && ours.primitive == theirs.primitive) return false;
  const Claim a(scene, ray, ours), b(scene, ray, theirs);
  const double metres = glm::length(dvec3(ray.direction));
  return std::abs(a.t - b.t) * metres < 1e-7 * std::max(a.size, b.size) && sameDistance(ray, ours.t, theirs.t) &&
         std::abs(std::abs(a.cosine) - std::abs(b.cosine)) < 1e-6 && !closeCall(scene, ray, ours) &&
         !closeCall(scene, ray, theirs);
}

inline bool explained(const TracedScene& scene, const Ray& ray, const Result& ours, const Result& theirs) {
  if (ours.hit() && theirs.hit() && ours.blocked() && sameDistance(ray, ours.t, theirs.t))
    return true;  // two triangles in one place
  if (ours.hit() && theirs.hit() && ours.instance == theirs.instance && ours.primitive == theirs.primitive &&
      ours.blocked()) {
    const Claim claim(scene, ray,
                      ours);  // a grazing ray: the same triangle, and neither t is further off than rounding explains
    if (std::abs(ours.t - claim.t) < claim.slack && std::abs(theirs.t - claim.t) < claim.slack) return true;
  }
  return (ours.hit() && closeCall(scene, ray, ours)) || (theirs.hit() && closeCall(scene, ray, theirs));
}

}  // namespace tandem::test
