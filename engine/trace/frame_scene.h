// What moves, at the time of one frame, computed on the CPU once a frame and uploaded to every device that traces it.
// A pure function of scene, camera, times and frame number: captured frames do not depend on the frames before them.
#pragma once

#include <cstdint>
#include <vector>

#include "scene/camera.h"
#include "shaders/shared/path_trace.h"
#include "trace/compute_bvh.h"
#include "trace/host_scene.h"

namespace tandem::trace {

struct FrameScene {
  uint32_t frame = 0;
  bool countRays = false;                       // GpuScene::takeRays
  std::vector<shared::InstanceData> instances;  // at the centre of the shutter
  std::vector<shared::InstanceMotion> motions;  // at its opening and closing
  std::vector<shared::BvhInstance>
      placements;                         // merged groups, then what moves; without addresses, which are a device's own
  std::vector<uint32_t> placedInstances;  // per placement its instance; of a merged group, 0
  FrameDeformation deformation;           // of HostScene::deforming()
  TopTree top;
  std::vector<shared::EmissiveTriangle> emissive;  // with their alias table
  std::vector<shared::PunctualLight> punctual;     // with theirs; lights of no intensity are left out
  shared::LightChoice lights{};
  shared::CameraData camera{};
  shared::CameraData cameraOpen{};
  shared::CameraData cameraClose{};
};

/// Times in seconds on the animation's clock; open <= centre <= close.
FrameScene makeFrameScene(const HostScene& host, const scene::CameraChoice& camera, double timeCentre, double timeOpen,
                          double timeClose, uint32_t frame);

}  // namespace tandem::trace
