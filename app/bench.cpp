// `tandem bench`
#include "jobs/bench.h"

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "base/log.h"
#include "bench_options.h"
#include "commands.h"
#include "jobs/bench_files.h"
#include "jobs/report_file.h"

namespace tandem::app {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  tandem bench\n"
    "  tandem bench --suite quick --html quick.html --json quick.json\n"
    "  tandem bench --suite full --json full.json --resume --minutes 8\n"
    "  tandem bench --compare before.json after.json --fail-above 5%\n"
    "  tandem bench builtin:terrain --modes single,sfr --bounces 1 --repeat 5 --json terrain.json\n"
    "  tandem bench scene.glb --modes single,afr --readback on --seconds 5\n"
    "Software devices get tiny pictures and few frames where nothing is given.\n"
    "Exit codes: 0 done, 1 failed while running, pictures differ or slower than before, 2 wrong usage, 3 unusable "
    "input, 4 no usable GPU, "
    "5 some scenes or modes were refused, 130 interrupted, 143 terminated.";

void addRunOptions(CLI::App& command, BenchWords& words) {
  const OptionGroup option{command, "Runs"};
  option("--suite", words.suite, "NAME", "quick, standard or full, or a .json file like theirs (assets/bench)");
  option("--modes", words.modes, "LIST", "single,pipelined,sfr,afr or some of them (all that the machine can run)");
  option("--frames", words.frames, "N", "Timed frames of a run (120)");
  option("--seconds", words.seconds, "S", "Length of a run instead");
  option("--repeat", words.repeats, "N", "Runs of each mode, the modes in turn (5)");
  option("--readback", words.readback, "on|off", "Copy every picture to the host, as capture does (off)");
  option("--sampling", words.sampling, "on|off", "Watch the GPUs' power and clocks meanwhile (on)");
  option("--minutes", words.minutes, "N", "Begin no scene after that long; --resume goes on");
  option("--resume", words.resume, "Keep what the --json file has, and measure what it lacks");
  option("--slow-pass", words.slowPass, "NAME=MS", "Make a pass slower: would the report notice?");
}

void addReportOptions(CLI::App& command, BenchWords& words) {
  const OptionGroup option{command, "Reports"};
  option("--json", words.json, "FILE", "Everything as JSON, with each frame's time");
  option("--csv", words.csv, "FILE", "One line a frame");
  option("--html", words.html, "FILE", "A page with plots");
  option("--price-per-hour", words.price, "A,B", "Of a machine with one GPU and with two: what do frames cost?");
  option("--from", words.from, "FILE", "Measure nothing: make --html and --csv of a --json file");
  command.add_option("--compare", words.compare, "Compare two --json files instead of measuring")
      ->type_name("OLD NEW")
      ->expected(2)
      ->group("Reports");
  option("--fail-above", words.failAbove, "PERCENT", "With --compare: exit code 1 where a mode lost more (5%)");
  option("-v,--verbose", words.verbose, "Say more");
  option("-q,--quiet", words.quiet, "No tables, only warnings and errors");
}

/// The command line as a shell would take it again.
std::string quoted(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    line += line.empty() ? "" : " ";
    if (word.find_first_of(" \t\n'\"\\$`&|;<>()*?[]#~!{}") == std::string::npos && !word.empty()) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char letter : word) line += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    line += '\'';
  }
  return line;
}

int runCompare(const BenchWords& words) {
  const auto percent = readFailAbove(words);
  if (!percent) return fail(percent.refusal());
  const auto comparison = jobs::compareFiles(words.compare[0], words.compare[1], *percent);
  if (!comparison) return fail(comparison.refusal());
  print(comparison->text);
  return static_cast<int>(comparison->exit);
}

int runConversion(const BenchWords& words) {
  if (words.csv.empty() && words.html.empty())
    return fail(refuse(ExitCode::WrongUsage, "--from {}: into what? Give --html FILE or --csv FILE", words.from));
  for (const std::string& file : {words.csv, words.html}) {
    if (auto refusal = jobs::prepareReport(file)) return fail(*refusal);
  }
  if (const auto refusal = jobs::convertBenchFile(words.from, {"", words.csv, words.html})) return fail(*refusal);
  return 0;
}

int runBench(const BenchWords& words, const std::vector<std::string>& commandLine) {
  if (!words.compare.empty()) return runCompare(words);
  if (!words.from.empty()) return runConversion(words);
  auto settings = readBenchWords(words);
  if (!settings) return fail(settings.refusal());
  settings->commandLine = quoted(commandLine);
  if (words.verbose) log::setLevel(log::Level::Debug);
  if (words.quiet) log::setLevel(log::Level::Warning);
  for (const std::string& file : {words.json, words.csv, words.html}) {
    if (auto refusal = jobs::prepareReport(file)) return fail(*refusal);
  }
  const auto report = jobs::bench(*settings);
  if (!report) return fail(report.refusal());
  jobs::writeBenchFiles(*report, {words.json, words.csv, words.html});
  if (!words.quiet) print(jobs::benchText(*report, isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr));
  return report->exit;
}

}  // namespace

Command addBench(CLI::App& parser, std::vector<std::string> commandLine) {
  CLI::App* command = parser.add_subcommand("bench", "Measure one GPU against two, in every mode");
  const auto words = std::make_shared<BenchWords>();
  command
      ->add_option("SCENE", words->scenes,
                   "Any number of .gltf or .glb files or builtin:NAME (builtin:terrain and the courtyard)")
      ->type_name("");
  addRunOptions(*command, *words);
  addReportOptions(*command, *words);
  addPictureOptions(*command, *words, {"4k", "4"});
  addBlurOptions(*command, *words);
  addMachineOptions(*command, *words);
  command->footer(kFooter);
  return [words, command, commandLine = std::move(commandLine)] {
    if (auto refusal = findEmptyValue(*command)) return fail(*refusal);
    return runBench(*words, commandLine);
  };
}

}  // namespace tandem::app
