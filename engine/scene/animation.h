// Scene at a time: world matrices of all nodes. Pure functions; glTF 2.0 section 3.11 and appendix C (interpolation).
#pragma once

#include <vector>

#include "scene/scene.h"

namespace tandem::scene {

/// What moves, at one time.
struct Pose {
  std::vector<mat4> world;                  // per node
  std::vector<std::vector<float>> weights;  // of morph targets, per node; empty where no node has any
};

/// All animations play together from their own zero; where two move the same property, the first one wins. Times before
/// the first key or after the last hold the end values.
Pose poseAt(const Scene& scene, double seconds);

/// Bounds of all mesh instances in a pose, world space; points that are not finite are left out.
Bounds boundsOf(const Scene& scene, const Pose& pose);

/// Whether any node is animated.
bool isAnimated(const Scene& scene);

}  // namespace tandem::scene
