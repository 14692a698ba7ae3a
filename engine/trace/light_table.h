// Tables for choosing lights with given probabilities. Pure functions of their input; double precision inside, so that
// a million lights keep their shares.
#pragma once

#include <span>
#include <vector>

#include "base/math.h"
#include "scene/scene.h"
#include "shaders/shared/scene.h"

namespace tandem::trace {

/// An alias table (Vose 1991, "A Linear Algorithm for Generating Random Numbers with a Given Distribution"): bin i of n
/// is drawn uniformly and stands for itself below its threshold, else for its alias. `total`: sum of the weights; 0:
/// all bins stand for themselves, and must not be used.
struct AliasTable {
  std::vector<shared::AliasBin> bins;
  double total = 0.0;
};

/// Weights that are not finite or negative count as 0.
AliasTable makeAliasTable(std::span<const double> weights);

/// An environment's distribution: constant on every texel, proportional to the integral over the texel of luminance
/// (bilinear, as shading sees it) times cosine of latitude. Cumulative, each from 0 to 1.
struct EnvironmentTable {
  std::vector<float> rows;     // [height + 1]
  std::vector<float> columns;  // [height][width + 1]
  /// For each cumulative array, where to begin looking: entry k is the last cell that begins at or below k / cells, a
  /// hair less. Chen, Asau 1974, "On Generating Random Variates from an Empirical Distribution".
  std::vector<uint32_t> rowGuide;     // [height + 1]
  std::vector<uint32_t> columnGuide;  // [height][width + 1]
  bool black = true;                  // nothing to sample; the arrays are empty
};

EnvironmentTable makeEnvironmentTable(const scene::Environment& environment);

/// Rec. 709.
inline float luminance(vec3 linear) { return glm::dot(linear, vec3(0.2126f, 0.7152f, 0.0722f)); }

}  // namespace tandem::trace
