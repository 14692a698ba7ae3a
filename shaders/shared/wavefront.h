// What the path tracer keeps between its stages, where it runs as several kernels (shaders/trace/wave_*.comp, engine/trace/wavefront).
// A slot is one pixel of the rows under way. Slots are numbered as threads are: work group after work group, each group
// kGroupWidth pixels wide.
#ifndef TANDEM_SHADERS_SHARED_WAVEFRONT_H
#define TANDEM_SHADERS_SHARED_WAVEFRONT_H

#include "shaders/shared/types.h"

TANDEM_SHARED_BEGIN

/// Arrays by slot. A path's random numbers are a function of pixel, sample and how many were drawn: the last is kept.
struct WaveState {
  uint64_t path;             // PathTraceParams
  uint64_t hits;             // uvec4[]: t, placement (kWaveMiss: none), primitive, first barycentric
  uint64_t hitTails;         // float[]: second barycentric
  uint64_t origins;          // vec4[]: where the next segment and the shadow ray begin; distance of the light
  uint64_t directions;       // vec4[]: of the next segment; its density
  uint64_t throughputs;      // vec4[]: throughput; pairs of random numbers drawn, as bits
  uint64_t lightDirections;  // vec4[]: of the shadow ray; how the cone of the next segment widens
  uint64_t lightValues;      // vec4[]: what it brings where nothing is in between
  uint64_t radiance;         // vec4[]: of the sample under way; width of the ray's cone
  uint64_t sums;             // vec4[]: over the samples before
  uint64_t firsts;           // vec4[]: albedo, coverage: over the samples up to this one
  uint64_t shadowQueue;      // uint[]: slots whose light is to be asked for: rays to a punctual light from the front, others from the back
  uint64_t nextQueues;       // uint[2][slots]: slots whose path goes on, by even and odd depth
  uint64_t counters;         // uint[kWaveQueues * (bounces + 1)]: entries of the queues at each depth
  uint slots;
  uint pad;
};

struct WavePush {
  uint64_t state;            // WaveState
  uint firstRow;
  uint endRow;
  uint sampleIndex;
  uint depth;
};

#ifdef __cplusplus
inline constexpr uint32_t kWaveMiss = 0xffffffffu;
inline constexpr uint32_t kWaveQueues = 3u;
#else
const uint kWaveMiss = 0xffffffffu;
const uint kWaveQueues = 3u;
#endif

TANDEM_SHARED_END
#endif
