// `tandem devices`
#include "jobs/devices.h"

#include <memory>

#include "commands.h"
#include "render_options.h"

namespace tandem::app {
namespace {

struct DeviceWords {
  std::string scene, size, samples, bounces;
  bool probe = false, json = false;
};

Expected<jobs::DeviceRequest> readWords(const DeviceWords& words) {
  jobs::DeviceRequest request;
  request.probe = words.probe;
  if (words.scene.empty()) {
    if (words.size.empty() && words.samples.empty() && words.bounces.empty()) return request;
    return refuse(ExitCode::WrongUsage, "--size, --samples and --bounces belong to a prediction: give --scene too");
  }
  request.predict.emplace();
  request.predict->scene = words.scene;
  if (auto no = readInto(request.predict->size, words.size, parseSize)) return *std::move(no);
  if (auto no = readInto(request.predict->samples, words.samples, countOf("--samples", 1, 1u << 20)))
    return *std::move(no);
  if (auto no = readInto(request.predict->bounces, words.bounces, countOf("--bounces", 0, 1024))) return *std::move(no);
  return request;
}

}  // namespace

Command addDevices(CLI::App& parser) {
  CLI::App* command = parser.add_subcommand(
      "devices", "List the Vulkan devices, why each can or cannot be used, and what is wrong with this machine");
  const auto words = std::make_shared<DeviceWords>();
  const OptionGroup option{*command, "Options"};
  option("--probe", words->probe, "Try every link between the GPUs, and measure it");
  option("--scene", words->scene, "SCENE", "Predict what two GPUs would give for this scene");
  option("--size", words->size, "SIZE", "Of the prediction (4k)");
  option("--samples", words->samples, "N", "Of the prediction (4)");
  option("--bounces", words->bounces, "N", "Of the prediction (4)");
  option("--json", words->json, "One JSON object on stdout");
  return [command, words] {
    if (const auto empty = findEmptyValue(*command)) return fail(*empty);
    const auto request = readWords(*words);
    if (!request) return fail(request.refusal());
    const auto report = jobs::inspectDevices(*request);
    if (!report) return fail(report.refusal());
    print(words->json ? jobs::devicesJson(*report) : jobs::devicesText(*report));
    if (report->anyUsable()) return 0;
    return fail(refuse(ExitCode::NoUsableGpu, "none of these devices can be used; see the reasons above"));
  };
}

}  // namespace tandem::app
