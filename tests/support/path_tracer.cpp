#include "support/path_tracer.h"

#include <cmath>
#include <cstring>
#include <glm/gtc/packing.hpp>

#include "graph/recording.h"
#include "graph/row_deal.h"
#include "support/gpu_fixture.h"

namespace tandem::test {

namespace {

class FixedSource final : public trace::TraceSource {
 public:
  FixedSource(gpu::Device& device, const scene::Scene& scene, trace::Tracer tracer)
      : host_(scene), gpu_(device, host_, tracer) {}
  trace::GpuScene& sceneOn(gpu::Device&) override { return gpu_; }
  const trace::FrameScene& frame() const override { return frame_; }
  void pose(const scene::CameraChoice& camera, TraceTimes t, uint32_t frame) {
    frame_ = trace::makeFrameScene(host_, camera, t.centre, t.open, t.close, frame);
  }

 private:
  trace::HostScene host_;
  trace::GpuScene gpu_;
  trace::FrameScene frame_;
};

/// One buffer per resource of the graph, on one device.
class LoneRecording final : public graph::Recording {
 public:
  LoneRecording(gpu::Commands& commands, const graph::Graph& graph) : commands_(commands) {
    for (const graph::BufferDesc& desc : graph.resources()) {
      buffers_.emplace_back(commands.device(), desc.bytes(), gpu::Memory::Device, desc.name);
    }
    for (uint32_t top = 0; top < graph.resources().at(0).rows; top += graph::kBandRows) bandTops_.push_back(top);
    rows_ = graph.resources()[0].rows;
  }
  gpu::Commands& commands() override { return commands_; }
  graph::RowShare share() const override { return {bandTops_, rows_}; }

 private:
  const gpu::Buffer& bufferOf(uint32_t resource, bool) const override { return buffers_.at(resource); }
  uint64_t rowTableOf(uint32_t) const override { throw BrokenPromise("the path tracer reads no plane"); }
  std::vector<graph::RowRun> runsOf(uint32_t) const override { throw BrokenPromise("the path tracer copies no plane"); }
  gpu::Commands& commands_;
  std::vector<gpu::Buffer> buffers_;
  std::vector<uint32_t> bandTops_;
  uint32_t rows_ = 0;
};

template <class T>
std::vector<T> readPlane(gpu::Device& device, const LoneRecording& recording, graph::Resource<T> plane,
                         TracedPicture& picture) {
  const auto texels = download<T>(device, recording.buffer(plane), picture.size.pixels());
  const size_t before = picture.words.size();
  picture.words.resize(before + texels.size() * sizeof(T) / 4);
  std::memcpy(picture.words.data() + before, texels.data(), texels.size() * sizeof(T));
  return texels;
}

}  // namespace

vec3 unpackOctahedral(uint32_t packed) {
  const vec2 e = glm::unpackSnorm2x16(packed);
  vec3 n(e, 1.0f - std::abs(e.x) - std::abs(e.y));
  if (n.z < 0.0f) {
    n = vec3((1.0f - std::abs(e.y)) * (e.x < 0.0f ? -1.0f : 1.0f), (1.0f - std::abs(e.x)) * (e.y < 0.0f ? -1.0f : 1.0f),
             n.z);
  }
  return glm::normalize(n);
}

vec3 TracedPicture::mean() const {
  glm::dvec3 sum(0.0);
  for (const vec4& r : radiance) sum += glm::dvec3(r);
  return vec3(sum / static_cast<double>(radiance.size()));
}

TracedPicture tracePicture(gpu::Device& device, const scene::Scene& scene, const trace::PathTraceSettings& settings,
                           uint32_t frame, TraceTimes times, trace::Tracer tracer) {
  auto source = std::make_shared<FixedSource>(device, scene, tracer);
  source->pose(*scene::chooseCamera(scene, {}), times, frame);
  graph::Graph graph;
  const trace::TracedPlanes planes = trace::addPathTrace(graph, settings, source);
  gpu::Commands commands(device, "path tracer test");
  LoneRecording recording(commands, graph);
  commands.begin();
  graph.passes()[0].record(recording);
  commands.end();
  device.queue().wait(device.queue().submit(commands.handle(), {}, "path tracer test").value, "path tracer test");

  TracedPicture picture;
  picture.size = settings.size;
  picture.tracer = source->sceneOn(device).tracer();
  picture.stateBytes = source->sceneOn(device).scratchBytes();
  for (const auto& t : readPlane(device, recording, planes.radiance, picture)) {
    picture.radiance.push_back(vec4(glm::unpackHalf2x16(t.rgba.x), glm::unpackHalf2x16(t.rgba.y)));
  }
  for (const auto& t : readPlane(device, recording, planes.albedo, picture))
    picture.albedo.push_back(glm::unpackUnorm4x8(t.rgba));
  const auto depths = readPlane(device, recording, planes.depth, picture);
  for (const auto& t : depths) picture.depth.push_back(t.metres);
  size_t i = 0;
  for (const auto& t : readPlane(device, recording, planes.normal, picture)) {
    picture.normal.push_back(depths[i++].metres < 1e30f ? unpackOctahedral(t.oct) : vec3(0.0f));
  }
  for (const auto& t : readPlane(device, recording, planes.motion, picture))
    picture.motion.push_back(glm::unpackHalf2x16(t.xy));
  return picture;
}

}  // namespace tandem::test
