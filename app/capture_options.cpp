#include "capture_options.h"

#include <algorithm>

#include "options.h"

namespace tandem::app {
namespace {

using frame::Aov;
using frame::Mode;
using jobs::CaptureSettings;

auto vectorOf(const char* option) {
  return [=](const std::string& text) { return parseVector(option, text); };
}

Expected<std::vector<Aov>> parseAovs(const std::string& text) {
  std::vector<Aov> aovs;
  for (const std::string_view word : splitAtCommas(text)) {
    const auto aov = parseWord<Aov>(
        "--aov", word,
        {{"albedo", Aov::Albedo}, {"normal", Aov::Normal}, {"depth", Aov::Depth}, {"motion", Aov::Motion}});
    if (!aov) return aov.refusal();
    if (std::ranges::find(aovs, *aov) == aovs.end()) aovs.push_back(*aov);
  }
  return aovs;
}

Problem readPlanes(const CaptureWords& words, CaptureSettings& settings) {
  using output::Compression;
  const auto compression = [](const std::string& text) {
    return parseWord<Compression>("--compression", text,
                                  {{"zip", Compression::Zip}, {"piz", Compression::Piz}, {"none", Compression::None}});
  };
  settings.environment = words.environment;
  if (auto no = readPicture(words, settings.picture)) return no;
  if (auto no = readSamples(words, settings.samples)) return no;
  if (auto no = readInto(settings.picture.aovs, words.aovs, parseAovs)) return no;
  return readInto(settings.compression, words.compression, compression);
}

Problem readCamera(const CaptureWords& words, CaptureSettings& settings) {
  scene::CameraRequest& camera = settings.camera;
  camera.name = words.camera;
  if (!words.up.empty() && words.eye.empty()) {
    return refuse(ExitCode::WrongUsage, "--up belongs to a camera given by --eye and --target");
  }
  if (auto no = readInto(camera.eye, words.eye, vectorOf("--eye"))) return no;
  if (auto no = readInto(camera.target, words.target, vectorOf("--target"))) return no;
  if (auto no = readInto(camera.up, words.up, vectorOf("--up"))) return no;
  double degrees = 0.0;
  if (auto no = readInto(degrees, words.yfov, numberOf("--yfov"))) return no;
  if (!words.yfov.empty()) camera.yfovDegrees = static_cast<float>(degrees);
  return std::nullopt;
}

Problem readTimes(const CaptureWords& words, CaptureSettings& settings) {
  if (!words.frames.empty()) settings.frames = words.frames;
  if (auto no = readInto(settings.times.rate, words.fps, jobs::parseFrameRate)) return no;
  if (auto no = readInto(settings.times.start, words.time, numberOf("--time"))) return no;
  return readBlur(words, settings.picture, settings.times);
}

/// A topology of one node has one mode, and the others need several.
Problem applyTopology(topology::TopologyKind kind, Mode& mode) {
  if (kind != topology::TopologyKind::Single) return std::nullopt;
  if (mode != Mode::Auto && mode != Mode::Single) {
    return refuse(ExitCode::WrongUsage, "--topology single and --mode {} contradict each other: leave one out",
                  frame::modeName(mode));
  }
  mode = Mode::Single;
  return std::nullopt;
}

Problem readNodes(const CaptureWords& words, CaptureSettings& settings) {
  const auto mode = [](const std::string& text) {
    return parseWord<Mode>("--mode", text,
                           {{"auto", Mode::Auto},
                            {"single", Mode::Single},
                            {"pipelined", Mode::Pipelined},
                            {"sfr", Mode::Sfr},
                            {"afr", Mode::Afr}});
  };
  if (auto no = readMachine(words, settings.machine)) return no;
  if (auto no = readInto(settings.machine.mode, words.mode, mode)) return no;
  return applyTopology(settings.machine.topology, settings.machine.mode);
}

}  // namespace

Expected<CaptureSettings> readWords(const CaptureWords& words) {
  CaptureSettings settings;
  if (words.scene.empty()) {
    return refuse(ExitCode::WrongUsage,
                  "SCENE is missing: give a .gltf or .glb file or builtin:NAME; see tandem capture --help");
  }
  settings.scene = words.scene;
  settings.load = {words.sceneInFile, words.allowExternal};
  settings.patterns = words.patterns;
  settings.trace = words.trace;
  settings.validation = words.validation;
  settings.quiet = words.quiet;
  if (!words.trace.empty() && words.trace == words.json)
    return refuse(ExitCode::WrongUsage, "--trace and --json name the same file {}: give each its own", words.json);
  if (words.overwrite && words.resume)
    return refuse(ExitCode::WrongUsage, "--overwrite and --resume contradict each other: give one");
  if (words.verbose && words.quiet) return refuse(ExitCode::WrongUsage, "-v and -q contradict each other: give one");
  if (words.overwrite) settings.existing = jobs::ExistingFrames::Replace;
  if (words.resume) settings.existing = jobs::ExistingFrames::Resume;
  for (const auto read : {readPlanes, readCamera, readTimes, readNodes}) {
    if (auto problem = read(words, settings)) return *std::move(problem);
  }
  return settings;
}

}  // namespace tandem::app
