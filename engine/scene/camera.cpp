#include "scene/camera.h"

#include <cmath>
#include <vector>

#include "scene/animation.h"

namespace tandem::scene {

namespace {

constexpr float kDefaultYfovDegrees = 45.0f;

bool isFinite(vec3 v) { return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z); }

/// An orthonormal frame that looks along `forward`, with `up` as nearly upwards as that allows.
void setFrame(Camera& camera, vec3 forward, vec3 up) {
  const auto usable = [](vec3 v) { return isFinite(v) && glm::dot(v, v) > 0.0f; };
  camera.forward = usable(forward) ? glm::normalize(forward) : vec3(0.0f, 0.0f, -1.0f);
  vec3 right = usable(up) ? glm::cross(camera.forward, glm::normalize(up)) : vec3(0.0f);
  if (!(glm::dot(right, right) > 1e-12f)) {
    const vec3 other = std::abs(camera.forward.y) < 0.9f ? vec3(0.0f, 1.0f, 0.0f) : vec3(0.0f, 0.0f, -1.0f);
    right = glm::cross(camera.forward, other);
  }
  camera.right = glm::normalize(right);
  camera.up = glm::cross(camera.right, camera.forward);
}

/// A name as people see it in a list of choices: the node's, else the lens's, else a made-up one. All can be asked for.
std::string cameraName(const Scene& scene, uint32_t index) {
  const Node& node = scene.nodes[index];
  if (!node.name.empty()) return node.name;
  const std::string& lens = scene.lenses[node.lens].name;
  return lens.empty() ? fmt::format("node {}", index) : lens;
}

std::string listCameras(const Scene& scene) {
  std::string names;
  for (uint32_t i = 0; i < scene.nodes.size(); ++i) {
    if (scene.nodes[i].lens == kNone) continue;
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", cameraName(scene, i));
  }
  return names.empty() ? "the scene has no cameras" : "the scene's cameras are " + names;
}

/// A camera listed by that name, else one whose lens has it; the first of each, since names may repeat.
uint32_t findCamera(const Scene& scene, const std::string& name) {
  uint32_t byLens = kNone;
  for (uint32_t i = 0; i < scene.nodes.size(); ++i) {
    if (scene.nodes[i].lens == kNone) continue;
    if (cameraName(scene, i) == name) return i;
    if (byLens == kNone && scene.lenses[scene.nodes[i].lens].name == name) byLens = i;
  }
  return byLens;
}

std::optional<Refusal> checkRequest(const CameraRequest& request) {
  if (request.eye.has_value() != request.target.has_value()) {
    return refuse(ExitCode::WrongUsage, "--eye and --target belong together: {} is missing",
                  request.eye ? "--target" : "--eye");
  }
  if (request.eye && !request.name.empty()) {
    return refuse(ExitCode::WrongUsage, "--camera '{}' and --eye both say where the camera is: give one of them",
                  request.name);
  }
  if (request.yfovDegrees && !(*request.yfovDegrees > 0.0f && *request.yfovDegrees < 180.0f)) {
    return refuse(ExitCode::WrongUsage, "--yfov {}: the vertical field of view must lie between 0 and 180 degrees",
                  *request.yfovDegrees);
  }
  return std::nullopt;
}

Expected<CameraChoice> cameraByNumbers(const CameraRequest& request) {
  const vec3 eye = *request.eye;
  const vec3 forward = *request.target - eye;
  if (!isFinite(eye) || !isFinite(forward) || !isFinite(request.up)) {
    return refuse(ExitCode::WrongUsage, "--eye, --target and --up must be finite numbers");
  }
  const float distance = glm::length(forward);
  if (!(distance > 0.0f) || !std::isfinite(distance)) {
    return refuse(ExitCode::WrongUsage, "--eye and --target are the same point: the camera looks nowhere");
  }
  const float upLength = glm::length(request.up);
  const bool parallel = glm::length(glm::cross(forward / distance, request.up)) <= 1e-5f * upLength;
  if (!(upLength > 0.0f) || parallel) {
    return refuse(ExitCode::WrongUsage,
                  "--up {},{},{} lies along the view from --eye to --target: choose another up direction", request.up.x,
                  request.up.y, request.up.z);
  }
  CameraChoice choice;
  choice.fixed.eye = eye;
  setFrame(choice.fixed, forward, request.up);
  choice.fixed.tanHalfYfov = std::tan(0.5f * glm::radians(request.yfovDegrees.value_or(kDefaultYfovDegrees)));
  choice.description = "a camera given by --eye and --target";
  return choice;
}

/// Three-quarter view from front, right and above; the bounding sphere touches the frame's edges.
CameraChoice cameraThatFrames(const Scene& scene, const CameraRequest& request) {
  const Bounds bounds = boundsOf(scene, poseAt(scene, 0.0));
  const vec3 centre = bounds.empty() ? vec3(0.0f) : bounds.centre();
  float radius = bounds.radius();
  if (!(radius > 0.0f) || !std::isfinite(radius)) radius = 1.0f;

  CameraChoice choice;
  const float yfov = glm::radians(request.yfovDegrees.value_or(kDefaultYfovDegrees));
  const vec3 towardsEye = glm::normalize(vec3(0.5f, 0.35f, 1.0f));
  choice.fixed.eye = centre + towardsEye * (radius / std::sin(0.5f * yfov));
  setFrame(choice.fixed, -towardsEye, vec3(0.0f, 1.0f, 0.0f));
  choice.fixed.tanHalfYfov = std::tan(0.5f * yfov);
  choice.description = "a camera that frames the scene";
  return choice;
}

Expected<CameraChoice> cameraOfNode(const Scene& scene, const CameraRequest& request, uint32_t node) {
  CameraChoice choice;
  choice.node = node;
  choice.description = fmt::format("camera '{}'", cameraName(scene, node));
  if (request.yfovDegrees) {
    if (scene.lenses[scene.nodes[node].lens].orthographic) {
      return refuse(ExitCode::WrongUsage, "--yfov: {} is orthographic and has no field of view", choice.description);
    }
    choice.yfov = glm::radians(*request.yfovDegrees);
  }
  return choice;
}

}  // namespace

Expected<CameraChoice> chooseCamera(const Scene& scene, const CameraRequest& request) {
  if (auto no = checkRequest(request)) return *no;
  if (request.eye) return cameraByNumbers(request);
  if (!request.name.empty()) {
    const uint32_t node = findCamera(scene, request.name);
    if (node == kNone) {
      return refuse(ExitCode::WrongUsage, "--camera '{}': no camera of that name; {}", request.name,
                    listCameras(scene));
    }
    return cameraOfNode(scene, request, node);
  }
  for (uint32_t i = 0; i < scene.nodes.size(); ++i) {
    if (scene.nodes[i].lens != kNone) return cameraOfNode(scene, request, i);
  }
  return cameraThatFrames(scene, request);
}

Camera resolveCamera(const Scene& scene, const CameraChoice& choice, const Pose& pose) {
  if (choice.node == kNone) return choice.fixed;
  const Lens& lens = scene.lenses[scene.nodes[choice.node].lens];
  const mat4& world = pose.world[choice.node];
  Camera camera;
  // Scale on a camera's node moves its children, not its picture: only directions are taken from the matrix.
  setFrame(camera, -vec3(world[2]), vec3(world[1]));
  if (isFinite(vec3(world[3]))) camera.eye = vec3(world[3]);
  camera.orthographic = lens.orthographic;
  camera.halfHeight = lens.ymag;
  camera.tanHalfYfov = std::tan(0.5f * choice.yfov.value_or(lens.yfov));
  return camera;
}

}  // namespace tandem::scene
