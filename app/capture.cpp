// `tandem capture`
#include "jobs/capture.h"

#include <memory>
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

void addSceneOptions(CLI::App& command, CaptureWords& words) {
  const OptionGroup option{command, "Scene"};
  option("--scene", words.sceneInFile, "NAME", "One of the file's scenes, by name or number from 0 (its default)");
  option("--allow-external", words.allowExternal, "Read files outside the scene's folder; for files that you trust");
}

void addPlaneOptions(CLI::App& command, CaptureWords& words) {
  const OptionGroup option{command, "Picture"};
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
}

void addModeOptions(CLI::App& command, CaptureWords& words) {
  const OptionGroup option{command, "Machine"};
  option("--mode", words.mode, "NAME", "auto, single, pipelined, sfr (rows shared) or afr (frames in turn) (auto)");
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
  option("--trace", words.trace, "FILE.json", "When each pass, transfer and file ran, for ui.perfetto.dev");
  option("-v,--verbose", words.verbose, "Say more");
  option("-q,--quiet", words.quiet, "No progress, no summary");
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
                   "A .gltf or .glb file, or builtin:NAME (cornell, furnace, skinned, sphere, terrain, spinners)")
      ->type_name("");
  addFileOptions(*command, *words);
  addSceneOptions(*command, *words);
  addPictureOptions(*command, *words, {"4k", "64; 4 on software devices"});
  addPlaneOptions(*command, *words);
  addCameraOptions(*command, *words);
  addTimeOptions(*command, *words);
  addBlurOptions(*command, *words);
  addModeOptions(*command, *words);
  addMachineOptions(*command, *words);
  command->footer(kFooter);
  return [words, command] {
    if (auto refusal = findEmptyValue(*command)) return fail(*refusal);
    return runCapture(*words);
  };
}

}  // namespace tandem::app
