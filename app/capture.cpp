// `tandem capture`
#include "jobs/capture.h"

#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "capture_options.h"
#include "commands.h"
#include "jobs/report_file.h"

namespace tandem::app {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  tandem capture scene.glb -o shot.exr -o shot.png\n"
    "  tandem capture scene.glb -o shot.####.exr --frames 1-24 --size 1080p --samples 256\n"
    "  tandem capture builtin:cornell -o box.png --mode pipelined --simulate-dual --json\n"
    "Exit codes: 0 done, 1 failed while running, 2 wrong usage, 3 unusable input, 4 no usable GPU, 5 some frames "
    "failed, 130 interrupted, 143 terminated.";

/// Adds options under one heading of the help text.
struct OptionGroup {
  CLI::App& command;
  std::string name;
  CLI::Option* operator()(const char* names, std::string& value, const char* type, const char* help) const {
    return command.add_option(names, value, help)->type_name(type)->group(name);
  }
  void operator()(const char* names, bool& value, const char* help) const {
    command.add_flag(names, value, help)->group(name);
  }
};

void addSceneOptions(CLI::App& command, CaptureWords& words) {
  const OptionGroup option{command, "Scene"};
  option("--scene", words.sceneInFile, "NAME", "One of the file's scenes, by name or number from 0 (its default)");
  option("--allow-external", words.allowExternal, "Read files outside the scene's folder; for files that you trust");
}

void addPictureOptions(CLI::App& command, CaptureWords& words) {
  const OptionGroup option{command, "Picture"};
  option("--size", words.size, "SIZE", "WxH, 1080p, 1440p, 4k or 8k (4k)");
  option("--samples", words.samples, "N", "Paths a pixel (64; 4 on software devices)");
  option("--bounces", words.bounces, "N", "Path segments after the first hit (4)");
  option("--seed", words.seed, "N", "Of the random numbers (0)");
  option("--environment", words.environment, "FILE", "A .hdr, light from all around (a sky for files)");
  option("--exposure", words.exposure, "EV", "auto, or EV: stops (auto)");
  option("--tonemap", words.tonemap, "NAME", "aces, neutral or none (aces)");
  option("--aov", words.aovs, "LIST", "Planes beside the picture in EXR: albedo,normal,depth,motion");
  option("--compression", words.compression, "NAME", "Of EXR files: zip, piz or none (zip)");
}

void addCameraOptions(CLI::App& command, CaptureWords& words) {
  const OptionGroup option{command, "Camera"};
  option("--camera", words.camera, "NAME", "A camera in the scene (its first)");
  option("--eye", words.eye, "X,Y,Z", "A camera of your own, with --target");
  option("--target", words.target, "X,Y,Z", "The point that it looks at");
  option("--up", words.up, "X,Y,Z", "Its upward direction (0,1,0)");
  option("--yfov", words.yfov, "DEG", "Vertical field of view (45, or the camera's)");
}

void addTimeOptions(CLI::App& command, CaptureWords& words) {
  const OptionGroup option{command, "Time"};
  option("--frames", words.frames, "LIST", "7, 1-24, 1-24x2 or a list of these (1)");
  option("--fps", words.fps, "RATE", "Frames per second, 24 or 24000/1001 (24)");
  option("--time", words.time, "S", "Seconds of the scene at frame 1 (0)");
  option("--motion-blur", words.motionBlur, "NAME", "post or off (post)");
  option("--shutter", words.shutter, "DEG", "Degrees that the shutter is open, of 360 a frame; 0: no blur (180)");
}

void addMachineOptions(CLI::App& command, CaptureWords& words) {
  const OptionGroup option{command, "Machine"};
  option("--gpus", words.gpus, "LIST", "auto, or A[,B]: index, UUID prefix, PCI address or name (auto)");
  option("--simulate-dual", words.simulateDual, "Open one GPU twice");
  option("--mode", words.mode, "NAME", "auto, single, or pipelined: rays on one GPU, post on the other (auto)");
  option("--topology", words.topology, "NAME", "auto, single or independent (auto)");
  option("--link", words.link, "NAME", "auto, host-import or host-copy (auto)");
  option("--tracer", words.tracer, "NAME", "auto or compute (auto)");
  option("--validation", words.validation, "Run under Vulkan's validation layers; any message: exit code 1");
}

void addFileOptions(CLI::App& command, CaptureWords& words) {
  const OptionGroup option{command, "Files and reports"};
  // One value for each -o: `-o a.exr scene.glb` has its scene.
  command
      .add_option("-o,--output", words.patterns, "NAME.exr or NAME.png, with #### or %04d for frames; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME")
      ->group(option.name);
  option("--overwrite", words.overwrite, "Replace files that exist");
  option("--resume", words.resume, "Keep the frames that are done in the same settings, render the rest");
  words.jsonOption =
      option("--json", words.json, "[FILE]", "Report as JSON, to FILE, or to stdout instead of the summary");
  words.jsonOption->expected(0, 1);
  option("-v,--verbose", words.verbose, "Say more");
  option("-q,--quiet", words.quiet, "No progress, no summary");
}

/// `--frames "$RANGE"` with an unset variable is a slip, not a wish for the default.
std::optional<Refusal> findEmptyValue(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_expected_min() == 0 || option->count() == 0) continue;
    for (const std::string& value : option->results()) {
      if (value.empty()) return refuse(ExitCode::WrongUsage, "{}: its value is empty", option->get_name());
    }
  }
  return std::nullopt;
}

int runCapture(CaptureWords words) {
  const bool jsonWanted = words.jsonOption->count() > 0;
  // `--json SCENE` means JSON on stdout: what looks like a scene is one.
  if (words.scene.empty() && looksLikeScene(words.json)) std::swap(words.scene, words.json);
  const auto settings = readWords(words);
  if (!settings) return fail(settings.refusal());
  if (words.verbose) log::setLevel(log::Level::Debug);
  if (words.quiet) log::setLevel(log::Level::Warning);
  if (auto refusal = jobs::prepareReport(words.json)) return fail(*refusal);
  const auto report = jobs::capture(*settings);
  if (!report) return fail(report.refusal());
  const bool jsonOnStdout = jsonWanted && words.json.empty();
  if (!words.json.empty()) jobs::writeReport(words.json, jobs::captureJson(*report));
  if (jsonOnStdout) print(jobs::captureJson(*report));
  if (!jsonOnStdout && !words.quiet) print(jobs::captureText(*report));
  return report->exit;
}

}  // namespace

Command addCapture(CLI::App& parser) {
  CLI::App* command = parser.add_subcommand("capture", "Render frames of a scene into EXR and PNG files");
  const auto words = std::make_shared<CaptureWords>();
  command
      ->add_option("SCENE", words->scene,
                   "A .gltf or .glb file, or builtin:NAME (cornell, furnace, sphere, terrain, spinners)")
      ->type_name("");
  addFileOptions(*command, *words);
  addSceneOptions(*command, *words);
  addPictureOptions(*command, *words);
  addCameraOptions(*command, *words);
  addTimeOptions(*command, *words);
  addMachineOptions(*command, *words);
  command->footer(kFooter);
  return [words, command] {
    if (auto refusal = findEmptyValue(*command)) return fail(*refusal);
    return runCapture(*words);
  };
}

}  // namespace tandem::app
