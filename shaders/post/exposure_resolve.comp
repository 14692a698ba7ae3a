// From histogram to exposure: the log-average luminance of the pixels between two percentiles becomes middle grey
// (Reinhard, Stark, Shirley, Ferwerda 2002, "Photographic Tone Reproduction for Digital Images", Eq. 1 and 2, key 0.18;
// trimmed so that dark corners and the sun itself do not decide).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shaders/post/exposure.glsl"
#include "shaders/post/planes.glsl"

layout(local_size_x = 1) in;
layout(push_constant, scalar) uniform Push { ExposureParams params; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer HistogramRef { ExposureHistogram value; };
layout(buffer_reference, scalar, buffer_reference_align = 4) writeonly buffer StateOut { ExposureState value; };

const float kKey = 0.18;
const float kLowPercentile = 0.40;
const float kHighPercentile = 0.95;

void main() {
  HistogramRef histogram = HistogramRef(params.histogram);
  uint total = 0;
  for (uint bin = 0; bin < kExposureBins; ++bin) total += histogram.value.count[bin];
  const float low = kLowPercentile * float(total);
  const float high = kHighPercentile * float(total);

  // Mean of log2 luminance over the pixels between `low` and `high`; of the bins at the ends, a share.
  uint before = 0;
  float weight = 0.0, sum = 0.0;
  for (uint bin = 0; bin < kExposureBins; ++bin) {
    const uint count = histogram.value.count[bin];
    const float part = min(float(before + count), high) - max(float(before), low);
    before += count;
    if (count == 0 || part <= 0.0) continue;
    const float within = (float(histogram.value.fraction[bin]) / float(count) + 0.5) / float(kExposureFractionSteps);
    sum += part * ((float(bin) + within) / kExposureBinsPerStop + kExposureMinLog2);
    weight += part;
  }
  const float ev = weight > 0.0 ? log2(kKey) - sum / weight : 0.0;
  StateOut(params.state).value = ExposureState(exp2(ev), ev);
}
