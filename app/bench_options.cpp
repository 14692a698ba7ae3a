#include "bench_options.h"

#include <algorithm>

namespace tandem::app {
namespace {

using frame::Mode;
using jobs::BenchSettings;

constexpr double kMostSeconds = 3600.0;

Expected<std::vector<Mode>> parseModes(const std::string& text) {
  std::vector<Mode> modes;
  for (const std::string_view word : splitAtCommas(text)) {
    const auto mode = parseWord<Mode>(
        "--modes", word,
        {{"single", Mode::Single}, {"pipelined", Mode::Pipelined}, {"sfr", Mode::Sfr}, {"afr", Mode::Afr}});
    if (!mode) return mode.refusal();
    if (std::ranges::find(modes, *mode) != modes.end())
      return refuse(ExitCode::WrongUsage, "--modes {}: {} stands there twice", text, word);
    modes.push_back(*mode);
  }
  return modes;
}

Expected<double> parseSeconds(const std::string& text) {
  const auto seconds = parseNumber("--seconds", text);
  if (seconds && *seconds > 0.0 && *seconds <= kMostSeconds) return *seconds;
  return refuse(ExitCode::WrongUsage, "--seconds {}: give a number above 0, at most {}", text, kMostSeconds);
}

Problem readLengths(const BenchWords& words, BenchSettings& settings) {
  const auto readback = [](const std::string& text) {
    return parseWord<bool>("--readback", text, {{"on", true}, {"off", false}});
  };
  if (!words.frames.empty() && !words.seconds.empty())
    return refuse(ExitCode::WrongUsage, "--frames and --seconds contradict each other: give one");
  if (auto no = readInto(settings.frames, words.frames, countOf("--frames", 1, 1'000'000))) return no;
  if (auto no = readInto(settings.seconds, words.seconds, parseSeconds)) return no;
  if (auto no = readInto(settings.repeats, words.repeats, countOf("--repeat", 1, 1000))) return no;
  return readInto(settings.readback, words.readback, readback);
}

Problem readPlan(const BenchWords& words, BenchSettings& settings) {
  if (auto no = readInto(settings.modes, words.modes, parseModes)) return no;
  const bool severalNodes = std::ranges::any_of(settings.modes, [](Mode mode) { return mode != Mode::Single; });
  if (settings.machine.topology == topology::TopologyKind::Single && severalNodes) {
    return refuse(ExitCode::WrongUsage, "--topology single and --modes {} contradict each other: leave one out",
                  words.modes);
  }
  return readLengths(words, settings);
}

}  // namespace

Expected<BenchSettings> readBenchWords(const BenchWords& words) {
  BenchSettings settings;
  if (words.verbose && words.quiet) return refuse(ExitCode::WrongUsage, "-v and -q contradict each other: give one");
  settings.scenes = words.scenes;
  settings.environment = words.environment;
  settings.validation = words.validation;
  if (auto no = readPicture(words, settings.picture)) return *std::move(no);
  if (!words.size.empty()) settings.size = settings.picture.size;
  if (auto no = readSamples(words, settings.samples)) return *std::move(no);
  if (auto no = readBlur(words, settings.picture, settings.times)) return *std::move(no);
  if (auto no = readMachine(words, settings.machine)) return *std::move(no);
  if (auto no = readPlan(words, settings)) return *std::move(no);
  return settings;
}

}  // namespace tandem::app
