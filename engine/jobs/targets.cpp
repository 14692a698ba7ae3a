#include "jobs/targets.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "jobs/whole_picture.h"
#include "output/sequence.h"

namespace tandem::jobs {
namespace {

namespace fs = std::filesystem;

Expected<std::vector<output::OutputPattern>> parsePatterns(const CaptureSettings& settings, size_t frameCount) {
  if (settings.patterns.empty()) {
    return refuse(ExitCode::WrongUsage, "-o is missing: name the picture, for example -o shot.exr or -o shot.####.png");
  }
  std::vector<output::OutputPattern> patterns;
  for (const std::string& text : settings.patterns) {
    Expected<output::OutputPattern> pattern = output::parsePattern(text, frameCount);
    if (!pattern) return pattern.refusal();
    patterns.push_back(std::move(*pattern));
  }
  const bool anyExr = std::ranges::any_of(patterns, [](const auto& one) { return one.format == output::Format::Exr; });
  if (!settings.picture.aovs.empty() && !anyExr) {
    return refuse(ExitCode::WrongUsage, "--aov: its planes need an EXR file; add one, for example -o planes.exr");
  }
  return patterns;
}

std::optional<Refusal> checkTwice(const Target& target, std::set<std::string>& names) {
  for (const std::string& file : target.files) {
    if (!names.insert(fs::path(file).lexically_normal().string()).second) {
      return refuse(ExitCode::WrongUsage, "-o: {} would be written twice; give each -o a name of its own", file);
    }
  }
  return std::nullopt;
}

/// Decides `kept`, and refuses what may not be touched.
std::optional<Refusal> checkExisting(Target& target, const CaptureSettings& settings) {
  bool allWhole = true;
  for (const std::string& file : target.files) {
    std::error_code ignored;
    const fs::file_status status = fs::symlink_status(file, ignored);
    if (!fs::exists(status)) {
      allWhole = false;
      continue;
    }
    if (fs::is_directory(status)) return refuse(ExitCode::WrongUsage, "-o {}: it is a folder; name a file in it", file);
    if (settings.existing == ExistingFrames::Refuse) {
      return refuse(ExitCode::WrongUsage, "{} exists; add --overwrite to replace it, or --resume to keep it", file);
    }
    if (settings.existing != ExistingFrames::Resume) continue;
    const std::optional<Extent> size = sizeOfWholePicture(file);
    allWhole = allWhole && size.has_value();
    if (size && *size != settings.picture.size) {
      return refuse(ExitCode::WrongUsage,
                    "--resume: {} is {}x{}, this run is {}x{}; give the same --size, or --overwrite", file, size->width,
                    size->height, settings.picture.size.width, settings.picture.size.height);
    }
  }
  target.kept = settings.existing == ExistingFrames::Resume && allWhole;
  return std::nullopt;
}

}  // namespace

Expected<std::vector<Target>> planTargets(const CaptureSettings& settings) {
  const Expected<std::vector<uint32_t>> frames = output::parseFrames(settings.frames);
  if (!frames) return frames.refusal();
  const auto patterns = parsePatterns(settings, frames->size());
  if (!patterns) return patterns.refusal();
  std::vector<Target> targets;
  std::set<std::string> names;
  for (const uint32_t frame : *frames) {
    Target target{frame, {}, false};
    for (const output::OutputPattern& pattern : *patterns)
      target.files.push_back(output::expandPattern(pattern, frame));
    if (auto refusal = checkTwice(target, names)) return *refusal;
    if (auto refusal = checkExisting(target, settings)) return *refusal;
    targets.push_back(std::move(target));
  }
  return targets;
}

std::optional<Refusal> prepareFolders(const std::vector<Target>& targets) {
  std::set<fs::path> tried;
  for (const Target& target : targets) {
    for (const std::string& file : target.files) {
      if (target.kept || !tried.insert(fs::path(file).parent_path()).second) continue;
      if (auto refusal = output::prepareTarget(file, output::Existing::Replace)) return refusal;
    }
  }
  return std::nullopt;
}

}  // namespace tandem::jobs
