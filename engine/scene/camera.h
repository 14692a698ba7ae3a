// The camera of one frame: where it stands and how it projects, resolved from scene, animation and command line.
#pragma once

#include <optional>
#include <string>

#include "base/check.h"
#include "base/math.h"
#include "scene/scene.h"

namespace tandem::scene {

/// World space. `right`, `up`, `forward` are an orthonormal frame (forward = view direction, -Z of the camera's node).
struct Camera {
  vec3 eye{0.0f};
  vec3 right{1.0f, 0.0f, 0.0f};
  vec3 up{0.0f, 1.0f, 0.0f};
  vec3 forward{0.0f, 0.0f, -1.0f};
  float tanHalfYfov = 0.4f;  // perspective
  bool orthographic = false;
  float halfHeight = 1.0f;  // orthographic, metres
};

/// What the user asked for; unset fields fall back to the scene.
struct CameraRequest {
  std::string name;         // --camera: a node's or lens's name
  std::optional<vec3> eye;  // --eye, --target, --up, --yfov: a camera given by numbers
  std::optional<vec3> target;
  vec3 up{0.0f, 1.0f, 0.0f};
  std::optional<float> yfovDegrees;
};

/// How cameras are found in one scene: the requested one, the scene's first, or one that frames the bounds.
struct CameraChoice {
  uint32_t node = kNone;  // a scene camera; kNone: `fixed`
  Camera fixed;
  std::string description;    // "camera 'Main'", "a camera that frames the scene"
  std::optional<float> yfov;  // overrides the lens, radians
};

struct Pose;  // scene/animation.h

Expected<CameraChoice> chooseCamera(const Scene& scene, const CameraRequest& request);

/// The chosen camera in a pose. The same choice at two poses gives the camera's own motion.
Camera resolveCamera(const Scene& scene, const CameraChoice& choice, const Pose& pose);

}  // namespace tandem::scene
