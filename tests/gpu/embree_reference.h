// Embree's answers to the questions that traversal answers, and their comparison.
#pragma once

#if __has_include(<embree4/rtcore.h>)
#include <embree4/rtcore.h>
#else
#include <embree3/rtcore.h>
#endif

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "gpu/close_call.h"
#include "gpu/traced_scene.h"

namespace tandem::test {

/// The same scene in Embree, in world space; the triangles that alpha makes holes are not there.
class Reference {
 public:
  explicit Reference(const TracedScene& scene) : device_(rtcNewDevice(nullptr)), scene_(rtcNewScene(device_)) {
    rtcSetSceneFlags(scene_, RTC_SCENE_FLAG_ROBUST);
    for (uint32_t i = 0; i < scene.instances(); i++) attach(scene, i);
    rtcCommitScene(scene_);
  }
  ~Reference() {
    rtcReleaseScene(scene_);
    rtcReleaseDevice(device_);
  }
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;

  Result trace(const Ray& ray) const {
    RTCRayHit query{};
    query.ray = prepare(ray);
    query.hit.geomID = RTC_INVALID_GEOMETRY_ID;
    RTCRay occluded = query.ray;
#if RTC_VERSION_MAJOR >= 4
    rtcIntersect1(scene_, &query);
    rtcOccluded1(scene_, &occluded);
#else
    RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    rtcIntersect1(scene_, &context, &query);
    rtcOccluded1(scene_, &context, &occluded);
#endif
    const bool hit = query.hit.geomID != RTC_INVALID_GEOMETRY_ID;
    Result result{query.ray.tfar, query.hit.geomID, 0, (hit ? 1u : 0u) | (occluded.tfar < 0.0f ? 2u : 0u), {}};
    result.barycentrics = {query.hit.u, query.hit.v};
    if (hit) result.primitive = primitives_.at(query.hit.geomID)[query.hit.primID];
    return result;
  }

 private:
  void attach(const TracedScene& scene, uint32_t instance) {
    std::vector<uint32_t> primitives;
    for (uint32_t p = 0; p < scene.triangles(instance); p++) {
      if (!scene.alphaTested(instance) || p % 2 == 0) primitives.push_back(p);
    }
    const RTCGeometry geometry = rtcNewGeometry(device_, RTC_GEOMETRY_TYPE_TRIANGLE);
    auto* corners = static_cast<vec3*>(rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3,
                                                               sizeof(vec3), 3 * primitives.size()));
    auto* indices = static_cast<uint32_t*>(
        rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 12, primitives.size()));
    for (size_t i = 0; i < 3 * primitives.size(); i++) {
      corners[i] = scene.worldCorner(instance, primitives[i / 3], int(i % 3));
      indices[i] = uint32_t(i);
    }
    rtcCommitGeometry(geometry);
    rtcAttachGeometryByID(scene_, geometry, instance);
    rtcReleaseGeometry(geometry);
    primitives_[instance] = std::move(primitives);
  }

  static RTCRay prepare(const Ray& ray) {
    RTCRay r{};
    r.org_x = ray.origin.x;
    r.org_y = ray.origin.y;
    r.org_z = ray.origin.z;
    r.dir_x = ray.direction.x;
    r.dir_y = ray.direction.y;
    r.dir_z = ray.direction.z;
    r.tnear = ray.tMin;
    r.tfar = ray.tMax;
    r.mask = ~0u;
    return r;
  }

  RTCDevice device_;
  RTCScene scene_;
  std::map<uint32_t, std::vector<uint32_t>> primitives_;
};

struct Verdict {
  size_t mismatches = 0;
  size_t unexplained = 0;
  size_t hits = 0;
  size_t ties = 0;
};

/// Traces the rays by both; a mismatch that double precision does not explain fails the test and is shown.
inline Verdict compare(TracedScene& scene, const std::vector<Ray>& rays) {
  const Reference reference(scene);
  const std::vector<Result> results = scene.trace(rays);
  Verdict verdict;
  for (size_t i = 0; i < rays.size(); i++) {
    const Result theirs = reference.trace(rays[i]);
    const Result& ours = results[i];
    verdict.hits += theirs.hit();
    if (agree(rays[i], ours, theirs)) continue;
    if (tied(scene, rays[i], ours, theirs)) {
      verdict.ties++;
      continue;
    }
    verdict.mismatches++;
    if (explained(scene, rays[i], ours, theirs)) continue;
    verdict.unexplained++;
    ADD_FAILURE() << "ray " << i << ": ours " << ours.flags << " t " << ours.t << " instance " << ours.instance
                  << " primitive " << ours.primitive << ", Embree " << theirs.flags << " t " << theirs.t << " instance "
                  << theirs.instance << " primitive " << theirs.primitive;
    if (verdict.unexplained > 10) break;
  }
  return verdict;
}

}  // namespace tandem::test
