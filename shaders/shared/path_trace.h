// Parameters of the path tracer (shaders/trace/path_trace.comp, engine/trace/path_trace).
#ifndef TANDEM_SHADERS_SHARED_PATH_TRACE_H
#define TANDEM_SHADERS_SHARED_PATH_TRACE_H

#include "shaders/shared/bvh.h"
#include "shaders/shared/scene.h"
#include "shaders/shared/types.h"

TANDEM_SHARED_BEGIN

/// Where the scene's arrays lie on the device that traces.
struct SceneAddresses {
  BvhScene bvh;
  uint64_t placements;         // PlacementData[], beside bvh.instances
  uint64_t instances;          // InstanceData[]
  uint64_t motions;            // InstanceMotion[]
  uint64_t meshes;             // MeshData[]
  uint64_t materials;          // MaterialData[]
  uint64_t punctual;           // PunctualLight[]
  uint64_t emissive;           // EmissiveTriangle[]
  uint64_t environment;        // vec3[height][width]: radiance, row 0 = straight up
  uint64_t environmentRows;    // float[height + 1]: cumulative probability of the rows
  uint64_t environmentColumns; // float[height][width + 1]: within each row
  uint64_t environmentRowGuide;     // uint[height + 1]: where to begin looking in each
  uint64_t environmentColumnGuide;  // uint[height][width + 1]
  uint64_t albedo;             // AlbedoEntry[kAlbedoRoughnesses][kAlbedoCosines]
  uint64_t albedoMeans;        // vec4[kAlbedoRoughnesses]
};

/// How one light is chosen at a vertex: first the group by these probabilities (they sum to 1, or are all 0), then a
/// light of the group.
struct LightChoice {
  float punctual;
  float emissive;
  float environment;
  float emissiveWeight;        // sum over all emissive triangles of area * emissiveWeight
  uint punctualCount;
  uint emissiveCount;
  uint environmentWidth;       // 0: black
  uint environmentHeight;
};

struct PathTraceParams {
  SceneAddresses scene;
  uint64_t radiance;           // RadianceTexel[], and so on: shaders/shared/planes.h
  uint64_t albedo;
  uint64_t normal;
  uint64_t depth;
  uint64_t motion;
  uint64_t bandTops;           // uint[]: row of the picture at which each band of kBandRows rows begins
  uint64_t rayCounters;        // uint[kRayCounters], whose sum grows by the rays traced; only where they are counted
  LightChoice lights;
  CameraData camera;           // at the centre of the shutter
  CameraData cameraOpen;
  CameraData cameraClose;
  uint width;
  uint height;
  uint samples;                // per pixel
  uint bounces;                // path segments after the first hit
  uint seed;
  uint frame;
};

/// One dispatch: some of the rows that this pass makes, counted as they are written: densely, band after band.
struct PathTracePush {
  uint64_t params;             // PathTraceParams
  uint firstRow;
  uint endRow;
};

// Specialization constant 0: what the scene has. What it lacks costs nothing.
// Specialization constant 1: how light is found; anything but kLightMis is for tests.
// Specialization constant 2: threads in a work group.
// Specialization constant 3: 1: rays are counted.
#ifdef __cplusplus
inline constexpr uint32_t kFeatureTextures = 1u;
inline constexpr uint32_t kFeatureAlpha = 2u;
inline constexpr uint32_t kFeatureNormalMaps = 4u;
inline constexpr uint32_t kFeatureColors = 8u;
inline constexpr uint32_t kFeaturePunctual = 16u;
inline constexpr uint32_t kFeatureEmissive = 32u;
inline constexpr uint32_t kFeatureEnvironment = 64u;
inline constexpr uint32_t kFeatureSpecularTextures = 128u;
inline constexpr uint32_t kFeatureSingleTree = 256u;   // one placement: no top level to walk
inline constexpr uint32_t kFeatureDeforming = 512u;
inline constexpr uint32_t kGroupWidth = 8u;   // pixels: 32 threads make a tile of 8 x 4
inline constexpr uint32_t kBandRows = 8u;
inline constexpr uint32_t kRayCounters = 64u;   // several, so that 32 bits are enough and groups rarely meet
inline constexpr uint32_t kLightMis = 0u;
inline constexpr uint32_t kLightSamplingOnly = 1u;
inline constexpr uint32_t kBsdfSamplingOnly = 2u;
#else
const uint kFeatureTextures = 1u;
const uint kFeatureAlpha = 2u;
const uint kFeatureNormalMaps = 4u;
const uint kFeatureColors = 8u;
const uint kFeaturePunctual = 16u;
const uint kFeatureEmissive = 32u;
const uint kFeatureEnvironment = 64u;
const uint kFeatureSpecularTextures = 128u;
const uint kFeatureSingleTree = 256u;
const uint kFeatureDeforming = 512u;
const uint kGroupWidth = 8u;
const uint kBandRows = 8u;
const uint kRayCounters = 64u;
const uint kLightMis = 0u;
const uint kLightSamplingOnly = 1u;
const uint kBsdfSamplingOnly = 2u;
#endif

TANDEM_SHARED_END
#endif
