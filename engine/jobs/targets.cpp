#include "jobs/targets.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/log.h"
#include "jobs/frame_log.h"
#include "jobs/whole_picture.h"
#include "output/whole_file.h"

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

enum class Found {
  Incomplete,     // a file is missing, torn or of another size
  Unrecorded,     // no line says how it was made
  OtherSettings,  // it was made in another way
  Done,
};

Found lookAt(const Target& target, size_t index, const FrameLog& log, const std::string& settings, Extent size) {
  const std::string& file = target.files[index];
  std::error_code error;
  const uintmax_t bytes = fs::file_size(file, error);
  if (error) return Found::Incomplete;
  const ManifestEntry* entry = log.find(target, index);
  if (entry == nullptr || entry->status != FrameStatus::Done || entry->frame != target.frame) return Found::Unrecorded;
  if (entry->settings != settings) return Found::OtherSettings;
  return bytes == entry->bytes && sizeOfWholePicture(file) == size ? Found::Done : Found::Incomplete;
}

void sayCount(size_t count, const char* what) {
  if (count > 0) log::info("--resume: {} {} {}; rendering again", count, count == 1 ? "frame" : "frames", what);
}

/// The partial files of a pattern's frames in one folder.
std::vector<fs::path> partsIn(const fs::path& folder, const output::OutputPattern& pattern) {
  std::vector<fs::path> parts;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const auto target = output::targetOfPartial(name);
    std::error_code ignored;
    if (target && output::matchesFileName(pattern, *target) && entry->is_regular_file(ignored))
      parts.push_back(entry->path());
  }
  return parts;
}

}  // namespace

Expected<CapturePlan> planCapture(const CaptureSettings& settings) {
  const Expected<std::vector<uint32_t>> frames = output::parseFrames(settings.frames);
  if (!frames) return frames.refusal();
  auto patterns = parsePatterns(settings, frames->size());
  if (!patterns) return patterns.refusal();
  CapturePlan plan{std::move(*patterns), {}};
  std::set<std::string> names;
  for (const uint32_t frame : *frames) {
    Target target{frame, {}, false};
    for (const output::OutputPattern& pattern : plan.patterns)
      target.files.push_back(output::expandPattern(pattern, frame));
    if (auto refusal = checkTwice(target, names)) return *refusal;
    plan.targets.push_back(std::move(target));
  }
  return plan;
}

std::optional<Refusal> checkExisting(const CapturePlan& plan, ExistingFrames existing) {
  for (const Target& target : plan.targets) {
    for (const std::string& file : target.files) {
      std::error_code ignored;
      const fs::file_status status = fs::symlink_status(file, ignored);
      if (fs::is_directory(status))
        return refuse(ExitCode::WrongUsage, "-o {}: it is a folder; name a file in it", file);
      if (fs::exists(status) && existing == ExistingFrames::Refuse) {
        return refuse(ExitCode::WrongUsage,
                      "{} exists; add --overwrite to replace it, or --resume to keep what is done and render the rest",
                      file);
      }
    }
  }
  return std::nullopt;
}

void keepWholeFrames(CapturePlan& plan, const FrameLog& log, const std::string& settings, Extent size) {
  size_t unrecorded = 0, otherSettings = 0;
  for (Target& target : plan.targets) {
    Found worst = Found::Done;
    for (size_t i = 0; i < target.files.size() && worst != Found::Incomplete; ++i)
      worst = std::min(worst, lookAt(target, i, log, settings, size));
    target.kept = worst == Found::Done;
    unrecorded += worst == Found::Unrecorded ? 1 : 0;
    otherSettings += worst == Found::OtherSettings ? 1 : 0;
  }
  sayCount(otherSettings, "on disk had other settings (or another scene or version)");
  sayCount(unrecorded, "on disk without a record of their settings");
}

std::optional<Refusal> prepareFolders(const CapturePlan& plan) {
  std::set<fs::path> tried;
  for (const Target& target : plan.targets) {
    for (const std::string& file : target.files) {
      if (target.kept || !tried.insert(fs::path(file).parent_path()).second) continue;
      if (auto refusal = output::prepareTarget(file, output::Existing::Replace)) return refusal;
    }
  }
  return std::nullopt;
}

void removeStaleParts(const CapturePlan& plan) {
  for (size_t i = 0; i < plan.patterns.size(); ++i) {
    std::set<fs::path> folders;
    for (const Target& target : plan.targets) folders.insert(fs::path(target.files[i]).parent_path());
    for (const fs::path& folder : folders) {
      std::error_code ignored;
      for (const fs::path& part : partsIn(folder.empty() ? "." : folder, plan.patterns[i])) fs::remove(part, ignored);
    }
  }
}

}  // namespace tandem::jobs
