#include "bench_options.h"

#include <algorithm>
#include <fstream>
#include <iterator>

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

Expected<jobs::Price> parsePrice(const std::string& text) {
  const auto words = splitAtCommas(text);
  jobs::Price price;
  if (words.size() == 2) {
    const auto one = parseNumber("--price-per-hour", words[0]), two = parseNumber("--price-per-hour", words[1]);
    if (one && two && *one > 0.0 && *two > 0.0) return jobs::Price{*one, *two};
  }
  return refuse(ExitCode::WrongUsage,
                "--price-per-hour {}: give two prices above 0, of a machine with one GPU and with two, as in 3.5,7",
                text);
}

Expected<exec::SlowPass> parseSlowPass(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals != std::string::npos && equals > 0) {
    const auto ms = parseNumber("--slow-pass", text.substr(equals + 1));
    if (ms && *ms > 0.0 && *ms <= 1000.0) return exec::SlowPass{text.substr(0, equals), *ms};
  }
  return refuse(ExitCode::WrongUsage, "--slow-pass {}: give a pass and milliseconds, as in path_trace=0.5", text);
}

Expected<double> parseMinutes(const std::string& text) {
  const auto minutes = parseNumber("--minutes", text);
  if (minutes && *minutes > 0.0 && *minutes <= 1e5) return *minutes;
  return refuse(ExitCode::WrongUsage, "--minutes {}: give a number above 0", text);
}

Expected<bool> parseOnOff(const char* option, const std::string& text) {
  return parseWord<bool>(option, text, {{"on", true}, {"off", false}});
}

/// The earlier report of --resume.
Problem readEarlier(const BenchWords& words, BenchSettings& settings) {
  if (!words.resume) return std::nullopt;
  if (words.json.empty()) return refuse(ExitCode::WrongUsage, "--resume goes on with a report: name it by --json");
  std::ifstream file(words.json, std::ios::binary);
  if (!file) return std::nullopt;  // nothing has been measured yet
  settings.earlier.assign(std::istreambuf_iterator<char>(file), {});
  return std::nullopt;
}

Problem readLengths(const BenchWords& words, BenchSettings& settings) {
  const auto readback = [](const std::string& text) { return parseOnOff("--readback", text); };
  const auto sampling = [](const std::string& text) { return parseOnOff("--sampling", text); };
  if (!words.frames.empty() && !words.seconds.empty())
    return refuse(ExitCode::WrongUsage, "--frames and --seconds contradict each other: give one");
  if (auto no = readInto(settings.frames, words.frames, countOf("--frames", 1, 1'000'000))) return no;
  if (auto no = readInto(settings.seconds, words.seconds, parseSeconds)) return no;
  if (auto no = readInto(settings.repeats, words.repeats, countOf("--repeat", 1, 1000))) return no;
  if (auto no = readInto(settings.readback, words.readback, readback)) return no;
  if (auto no = readInto(settings.sampling, words.sampling, sampling)) return no;
  if (auto no = readInto(settings.minutes, words.minutes, parseMinutes)) return no;
  if (auto no = readInto(settings.pricePerHour, words.price, parsePrice)) return no;
  return readInto(settings.machine.slowPass, words.slowPass, parseSlowPass);
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
  if (!words.suite.empty() && !words.scenes.empty())
    return refuse(ExitCode::WrongUsage, "--suite names its own scenes: leave {} out", words.scenes.front());
  settings.scenes = words.scenes;
  settings.suite = words.suite;
  settings.environment = words.environment;
  settings.validation = words.validation;
  settings.machine.tracer = frame::Tracer::Auto;
  if (auto no = readPicture(words, settings.picture)) return *std::move(no);
  if (!words.size.empty()) settings.size = settings.picture.size;
  if (!words.bounces.empty()) settings.bounces = settings.picture.bounces;
  if (auto no = readSamples(words, settings.samples)) return *std::move(no);
  if (auto no = readBlur(words, settings.picture, settings.times)) return *std::move(no);
  if (auto no = readMachine(words, settings.machine)) return *std::move(no);
  if (auto no = readPlan(words, settings)) return *std::move(no);
  if (auto no = readEarlier(words, settings)) return *std::move(no);
  return settings;
}

Expected<double> readFailAbove(const BenchWords& words) {
  constexpr double kUsual = 5.0;
  if (words.failAbove.empty()) return kUsual;
  std::string text = words.failAbove;
  if (text.ends_with('%')) text.pop_back();
  const auto percent = parseNumber("--fail-above", text);
  if (percent && *percent >= 0.0 && *percent < 100.0) return *percent;
  return refuse(ExitCode::WrongUsage, "--fail-above {}: give percent from 0 to below 100, as in 5%", words.failAbove);
}

}  // namespace tandem::app
