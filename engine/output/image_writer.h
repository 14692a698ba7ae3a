// Pictures on disk. Both formats are made in memory and then go through writeWholeFile: OpenEXR's own file stream does
// not notice a full disk.
//
// EXR: scene-linear and unexposed, half floats, after motion blur and before tone mapping. Channels R, G, B, and A =
// coverage. Planes beside the picture are channels of the same file: albedo.R/G/B (half, linear), normal.X/Y/Z (half,
// world space, unit length, 0 where nothing was hit), depth.Z (float, metres along the view direction, 1e30 where
// nothing was hit), motion.X/Y (half, pixels, x right, y down, over the shutter interval).
#pragma once

#include <glm/glm.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/math.h"
#include "output/whole_file.h"
#include "shaders/shared/planes.h"

namespace tandem::output {

enum class Compression { Zip, Piz, None };

/// The camera as the renderer knows it: columns, right-handed, looking down -Z; clip space with y up and w > 0 in front
/// (as of glm::perspective). The writer turns both into OpenEXR's convention: row vectors; worldToCamera left-handed,
/// +Z is the viewing direction; worldToNDC to (0, 0) top left and (1, 1) bottom right after the division by w
/// (ImfStandardAttributes.h).
struct ExrCamera {
  mat4 worldToView{1.0f};
  mat4 viewToClip{1.0f};
};

/// What the header says. capDate is the time of writing.
struct ExrMetadata {
  uint32_t frame = 0;       // attribute `frame` (int)
  float exposureEv = 0.0f;  // attribute `ev` (float): stops by which the tone-mapped picture is exposed; pixels are not
  int framesPerSecondNumerator = 24;
  int framesPerSecondDenominator = 1;
  float shutterSeconds = 0.0f;  // attribute `expTime`
  ExrCamera camera;
  std::string software = "Tandem";
  std::vector<std::pair<std::string, std::string>> more;  // further attributes, as text
};

/// Planes as they come from the GPU (row 0 at the top), borrowed. `radiance` is needed; the others are left out where
/// empty.
struct ExrImage {
  Extent size;
  std::span<const shared::RadianceTexel> radiance;
  std::span<const shared::AlbedoTexel> albedo;
  std::span<const shared::NormalTexel> normal;
  std::span<const shared::DepthTexel> depth;
  std::span<const shared::MotionTexel> motion;
  bool coverage = true;  // write channel A
  Compression compression = Compression::Zip;
  ExrMetadata metadata;
};

/// Throws AdverseError as writeWholeFile does. Thread-safe for different paths.
void writeExr(const std::string& path, const ExrImage& image, Existing existing,
              const FileOps& ops = FileOps::system());

/// `rgba8`: sRGB-encoded, R in the low byte; written as 8-bit RGB (A is 255 everywhere). Throws and threads as
/// writeExr.
void writePng(const std::string& path, Extent size, std::span<const uint32_t> rgba8, Existing existing,
              const FileOps& ops = FileOps::system());

}  // namespace tandem::output
