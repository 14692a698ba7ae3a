// Colour: linear Rec.709 / D65 throughout, unless a name says sRGB.
#ifndef TANDEM_LIB_COLOUR_GLSL
#define TANDEM_LIB_COLOUR_GLSL

/// Relative luminance of linear Rec.709 (ITU-R BT.709-6, item 3.2).
float luminance(vec3 colour) { return dot(colour, vec3(0.2126, 0.7152, 0.0722)); }

/// Linear [0, 1] to sRGB-encoded [0, 1] (IEC 61966-2-1:1999). 0 and 1 map to themselves exactly.
vec3 srgbEncode(vec3 linear) {
  const vec3 low = 12.92 * linear;
  const vec3 high = 1.055 * pow(max(linear, vec3(0.0031308)), vec3(1.0 / 2.4)) - 0.055;
  const vec3 encoded = mix(high, low, lessThanEqual(linear, vec3(0.0031308)));
  return mix(encoded, vec3(1.0), greaterThanEqual(linear, vec3(1.0)));
}

/// ACES 1.0 RRT and sRGB ODT, Stephen Hill's fit (published in M. Pettineo's BakingLab, ACES.hlsl, 2016): into a space
/// where the curve acts per channel, a rational curve, and back. Input: exposed linear radiance >= 0; output:
/// display-linear [0, 1].
///
/// The transform is made for a dim cinema and shows middle grey (0.18) at 0.10, so every picture looks underexposed beside
/// the other operators. kAcesGrey is the exposure at which 0.18 comes out as 0.18: the root of the rational curve there.
const float kAcesGrey = 0.26315 / 0.18;

vec3 tonemapAces(vec3 radiance) {
  const vec3 exposed = kAcesGrey * radiance;
  // Rows of the two published matrices: sRGB -> XYZ -> D60 -> AP1 -> RRT_SAT, and ODT_SAT -> XYZ -> D65 -> sRGB.
  const vec3 v = vec3(dot(exposed, vec3(0.59719, 0.35458, 0.04823)),
                      dot(exposed, vec3(0.07600, 0.90834, 0.01566)),
                      dot(exposed, vec3(0.02840, 0.13383, 0.83777)));
  const vec3 curve = (v * (v + 0.0245786) - 0.000090537) / (v * (0.983729 * v + 0.4329510) + 0.238081);
  const vec3 shown = vec3(dot(curve, vec3(1.60475, -0.53108, -0.07367)),
                          dot(curve, vec3(-0.10208, 1.10813, -0.00605)),
                          dot(curve, vec3(-0.00327, -0.07276, 1.07602)));
  return clamp(shown, 0.0, 1.0);
}

/// Khronos PBR Neutral Tone Mapper, specification of May 2024 (github.com/KhronosGroup/ToneMapping): base colours below
/// 0.8 come out as they are (less the 4 % that Fresnel adds), highlights are compressed and desaturated. Input and
/// output as for tonemapAces.
vec3 tonemapNeutral(vec3 exposed) {
  const float fresnel = 0.04;
  const float start = 0.8 - fresnel;
  const float desaturation = 0.15;
  const float least = min(exposed.r, min(exposed.g, exposed.b));
  const vec3 colour = exposed - (least < 2.0 * fresnel ? least - least * least / (4.0 * fresnel) : fresnel);
  const float peak = max(colour.r, max(colour.g, colour.b));
  if (peak <= start) return clamp(colour, 0.0, 1.0);
  const float room = 1.0 - start;
  const float newPeak = 1.0 - room * room / (peak + room - start);
  const float white = 1.0 - 1.0 / (desaturation * (peak - newPeak) + 1.0);
  return clamp(mix(colour * (newPeak / peak), vec3(newPeak), white), 0.0, 1.0);
}

#endif
