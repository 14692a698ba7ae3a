// Counts pixels by log2 luminance, in shared memory first. Only integer atomics: sums that do not depend on their
// order. Black (and what is not a number) is not counted: letterboxes and empty space say nothing about the light.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shaders/lib/colour.glsl"
#include "shaders/post/exposure.glsl"
#include "shaders/post/planes.glsl"

layout(local_size_x = 256) in;
layout(push_constant, scalar) uniform Push { ExposureParams params; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer HistogramRef { ExposureHistogram value; };

shared uint counts[kExposureBins];
shared uint fractions[kExposureBins];

void count(uvec2 pixel) {
  const float light = luminance(unpackRadiance(radianceAt(params.radiance, pixel)).rgb);
  if (!(light > 0.0)) return;
  const float place = (log2(light) - kExposureMinLog2) * kExposureBinsPerStop;
  const float bounded = clamp(place, 0.0, float(kExposureBins) - 0.001);
  const uint bin = uint(bounded);
  atomicAdd(counts[bin], 1u);
  atomicAdd(fractions[bin], min(uint(fract(bounded) * float(kExposureFractionSteps)), kExposureFractionSteps - 1u));
}

void main() {
  const uint lane = gl_LocalInvocationIndex;
  counts[lane] = 0;
  fractions[lane] = 0;
  barrier();
  const uint pixels = params.size.x * params.size.y;
  const uint stride = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
  for (uint index = gl_GlobalInvocationID.x; index < pixels; index += stride) {
    count(uvec2(index % params.size.x, index / params.size.x));
  }
  barrier();
  HistogramRef histogram = HistogramRef(params.histogram);
  if (counts[lane] > 0) {
    atomicAdd(histogram.value.count[lane], counts[lane]);
    atomicAdd(histogram.value.fraction[lane], fractions[lane]);
  }
}
