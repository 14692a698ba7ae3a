#include "capture_options.h"

#include <algorithm>
#include <cctype>

#include "options.h"

namespace tandem::app {
namespace {

using frame::Aov;
using frame::Mode;
using jobs::CaptureSettings;
using Problem = std::optional<Refusal>;

/// Reads `text`, where it was given, by `parse` into `target`.
template <class T, class Parse>
Problem readInto(T& target, const std::string& text, Parse parse) {
  if (text.empty()) return std::nullopt;
  auto value = parse(text);
  if (!value) return value.refusal();
  target = static_cast<T>(*std::move(value));
  return std::nullopt;
}

auto countOf(const char* option, uint32_t least, uint32_t most) {
  return [=](const std::string& text) { return parseCount(option, text, least, most); };
}
auto numberOf(const char* option) {
  return [=](const std::string& text) { return parseNumber(option, text); };
}
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

Expected<std::optional<float>> parseExposure(const std::string& text) {
  if (text == "auto") return std::optional<float>();
  const auto ev = parseNumber("--exposure", text);
  if (ev && *ev >= -100.0 && *ev <= 100.0) return std::optional<float>(static_cast<float>(*ev));
  return refuse(ExitCode::WrongUsage, "--exposure {}: give auto, or stops between -100 and 100", text);
}

Expected<double> parseShutter(const std::string& text) {
  const auto degrees = parseNumber("--shutter", text);
  if (degrees && *degrees >= 0.0 && *degrees <= 360.0) return *degrees;
  return refuse(ExitCode::WrongUsage, "--shutter {}: give degrees from 0 (no blur) to 360 (open for the whole frame)",
                text);
}

Problem readPicture(const CaptureWords& words, CaptureSettings& settings) {
  using output::Compression;
  using post::Tone;
  frame::PictureSettings& picture = settings.picture;
  const auto tone = [](const std::string& text) {
    return parseWord<Tone>("--tonemap", text, {{"aces", Tone::Aces}, {"neutral", Tone::Neutral}, {"none", Tone::None}});
  };
  const auto compression = [](const std::string& text) {
    return parseWord<Compression>("--compression", text,
                                  {{"zip", Compression::Zip}, {"piz", Compression::Piz}, {"none", Compression::None}});
  };
  settings.environment = words.environment;
  if (auto no = readInto(picture.size, words.size, parseSize)) return no;
  if (auto no = readInto(settings.samples, words.samples, countOf("--samples", 1, 1u << 20))) return no;
  if (auto no = readInto(picture.bounces, words.bounces, countOf("--bounces", 0, 1024))) return no;
  if (auto no = readInto(picture.seed, words.seed, countOf("--seed", 0, UINT32_MAX))) return no;
  if (auto no = readInto(picture.ev, words.exposure, parseExposure)) return no;
  if (auto no = readInto(picture.tone, words.tonemap, tone)) return no;
  if (auto no = readInto(picture.aovs, words.aovs, parseAovs)) return no;
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
  const auto blur = [](const std::string& text) {
    return parseWord<bool>("--motion-blur", text, {{"post", true}, {"off", false}}, {"accumulate"});
  };
  if (!words.frames.empty()) settings.frames = words.frames;
  if (auto no = readInto(settings.times.rate, words.fps, jobs::parseFrameRate)) return no;
  if (auto no = readInto(settings.times.start, words.time, numberOf("--time"))) return no;
  if (auto no = readInto(settings.times.shutterDegrees, words.shutter, parseShutter)) return no;
  if (auto no = readInto(settings.picture.motionBlur, words.motionBlur, blur)) return no;
  if (settings.times.shutterDegrees == 0.0) settings.picture.motionBlur = false;
  return std::nullopt;
}

/// A topology says how many nodes there are, and so does a mode.
Problem applyTopology(const std::string& topology, Mode& mode) {
  Mode wanted = Mode::Auto;
  const auto parse = [](const std::string& text) {
    return parseWord<Mode>("--topology", text,
                           {{"auto", Mode::Auto}, {"single", Mode::Single}, {"independent", Mode::Pipelined}},
                           {"group"});
  };
  if (auto no = readInto(wanted, topology, parse)) return no;
  if (wanted == Mode::Auto) return std::nullopt;
  if (mode != Mode::Auto && mode != wanted) {
    return refuse(ExitCode::WrongUsage, "--topology {} and --mode {} contradict each other: leave one out", topology,
                  frame::modeName(mode));
  }
  mode = wanted;
  return std::nullopt;
}

Problem readMachine(const CaptureWords& words, CaptureSettings& settings) {
  using topology::LinkKind;
  frame::MachineSettings& machine = settings.machine;
  const auto mode = [](const std::string& text) {
    return parseWord<Mode>("--mode", text,
                           {{"auto", Mode::Auto}, {"single", Mode::Single}, {"pipelined", Mode::Pipelined}},
                           {"sfr", "afr"});
  };
  const auto link = [](const std::string& text) {
    return parseWord<LinkKind>(
        "--link", text,
        {{"auto", LinkKind::Auto}, {"host-import", LinkKind::HostImport}, {"host-copy", LinkKind::HostCopy}},
        {"peer", "cuda"});
  };
  const auto tracer = [](const std::string& text) {
    return parseWord<int>("--tracer", text, {{"auto", 0}, {"compute", 0}}, {"rt"});
  };
  if (!words.gpus.empty()) machine.gpus = words.gpus;
  machine.simulateDual = words.simulateDual;
  int onlyTracer = 0;
  if (auto no = readInto(machine.mode, words.mode, mode)) return no;
  if (auto no = readInto(machine.link, words.link, link)) return no;
  if (auto no = readInto(onlyTracer, words.tracer, tracer)) return no;
  return applyTopology(words.topology, machine.mode);
}

}  // namespace

bool looksLikeScene(const std::string& word) {
  std::string lower = word;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower.starts_with("builtin:") || lower.ends_with(".gltf") || lower.ends_with(".glb");
}

Expected<CaptureSettings> readWords(const CaptureWords& words) {
  CaptureSettings settings;
  if (words.scene.empty()) {
    return refuse(ExitCode::WrongUsage,
                  "SCENE is missing: give a .gltf or .glb file or builtin:NAME; see tandem capture --help");
  }
  settings.scene = words.scene;
  settings.load = {words.sceneInFile, words.allowExternal};
  settings.patterns = words.patterns;
  settings.validation = words.validation;
  settings.quiet = words.quiet;
  if (words.overwrite && words.resume)
    return refuse(ExitCode::WrongUsage, "--overwrite and --resume contradict each other: give one");
  if (words.verbose && words.quiet) return refuse(ExitCode::WrongUsage, "-v and -q contradict each other: give one");
  if (words.overwrite) settings.existing = jobs::ExistingFrames::Replace;
  if (words.resume) settings.existing = jobs::ExistingFrames::Resume;
  for (const auto read : {readPicture, readCamera, readTimes, readMachine}) {
    if (auto problem = read(words, settings)) return *std::move(problem);
  }
  return settings;
}

}  // namespace tandem::app
