// Options that every command that renders has: the picture, its time and the machine. As they were written, and their
// reading.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/check.h"
#include "frame/settings.h"
#include "jobs/frame_time.h"
#include "options.h"

namespace tandem::app {

/// Empty: not given.
struct RenderWords {
  std::string size, samples, bounces, seed, environment, exposure, tonemap;
  std::string motionBlur, shutter;
  std::string gpus, topology, link, linkGbps, rowsShare, tracer;
  bool simulateDual = false, validation = false;
};

/// Adds options under one heading of the help text.
struct OptionGroup {
  CLI::App& command;
  std::string name;
  CLI::Option* operator()(const char* names, std::string& value, const char* type, const char* help) const;
  void operator()(const char* names, bool& value, const char* help) const;
};

/// What is taken where a command's option is not given, for its help text.
struct RenderDefaults {
  std::string size, samples;
};

void addPictureOptions(CLI::App& command, RenderWords& words, const RenderDefaults& defaults);
void addBlurOptions(CLI::App& command, RenderWords& words);
void addMachineOptions(CLI::App& command, RenderWords& words);

using Problem = std::optional<Refusal>;

/// Each refuses (WrongUsage) what cannot be read, and leaves alone what was not given.
Problem readPicture(const RenderWords& words, frame::PictureSettings& picture);  // all but the samples
Problem readSamples(const RenderWords& words, std::optional<uint32_t>& samples);
Problem readBlur(const RenderWords& words, frame::PictureSettings& picture, jobs::FrameTimes& times);
Problem readMachine(const RenderWords& words, frame::MachineSettings& machine);  // all but the mode

/// An option that was given an empty value: `--frames "$RANGE"` with an unset variable is a slip, not a wish for the
/// default.
Problem findEmptyValue(const CLI::App& command);

/// builtin:NAME, or a name that ends in .gltf or .glb.
bool looksLikeScene(const std::string& word);

/// Reads `text`, where it was given, by `parse` into `target`.
template <class T, class Parse>
Problem readInto(T& target, const std::string& text, Parse parse) {
  if (text.empty()) return std::nullopt;
  auto value = parse(text);
  if (!value) return value.refusal();
  target = static_cast<T>(*std::move(value));
  return std::nullopt;
}

inline auto countOf(const char* option, uint32_t least, uint32_t most) {
  return [=](const std::string& text) { return parseCount(option, text, least, most); };
}
inline auto numberOf(const char* option) {
  return [=](const std::string& text) { return parseNumber(option, text); };
}

}  // namespace tandem::app
