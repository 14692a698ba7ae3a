#include "render_options.h"

#include <algorithm>
#include <cctype>

namespace tandem::app {
namespace {

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

Expected<double> parseThrottle(const std::string& text) {
  const auto gbps = parseNumber("--link-gbps", text);
  if (gbps && *gbps > 0.0 && *gbps <= 1e6) return *gbps;
  return refuse(ExitCode::WrongUsage, "--link-gbps {}: give 1e9 bytes a second, more than 0 (a PCIe 3.0 x4 slot: 3.2)",
                text);
}

Expected<std::vector<double>> parseShares(const std::string& text) {
  std::vector<double> shares;
  double sum = 0.0;
  for (const std::string_view word : splitAtCommas(text)) {
    const auto share = parseNumber("--rows-share", std::string(word));
    if (!share || !(*share >= 0.0 && *share <= 1e6))
      return refuse(ExitCode::WrongUsage, "--rows-share {}: give one number from 0 on per GPU, as in 60,40", text);
    shares.push_back(*share);
    sum += *share;
  }
  if (sum > 0.0) return shares;
  return refuse(ExitCode::WrongUsage, "--rows-share {}: some GPU must have rows", text);
}

}  // namespace

CLI::Option* OptionGroup::operator()(const char* names, std::string& value, const char* type, const char* help) const {
  return command.add_option(names, value, help)->type_name(type)->group(name);
}

void OptionGroup::operator()(const char* names, bool& value, const char* help) const {
  command.add_flag(names, value, help)->group(name);
}

void addPictureOptions(CLI::App& command, RenderWords& words, const RenderDefaults& defaults) {
  const OptionGroup option{command, "Picture"};
  const std::string size = fmt::format("WxH, 1080p, 1440p, 4k or 8k ({})", defaults.size);
  const std::string samples = fmt::format("Paths a pixel ({})", defaults.samples);
  option("--size", words.size, "SIZE", size.c_str());
  option("--samples", words.samples, "N", samples.c_str());
  option("--bounces", words.bounces, "N", "Path segments after the first hit (4)");
  option("--seed", words.seed, "N", "Of the random numbers (0)");
  option("--environment", words.environment, "FILE", "A .hdr, light from all around (a sky for files)");
  option("--exposure", words.exposure, "EV", "auto, or EV: stops (auto)");
  option("--tonemap", words.tonemap, "NAME", "aces, neutral or none (aces)");
}

void addBlurOptions(CLI::App& command, RenderWords& words) {
  const OptionGroup option{command, "Time"};
  option("--motion-blur", words.motionBlur, "NAME", "post or off (post)");
  option("--shutter", words.shutter, "DEG", "Degrees that the shutter is open, of 360 a frame; 0: no blur (180)");
}

void addMachineOptions(CLI::App& command, RenderWords& words) {
  const OptionGroup option{command, "Machine"};
  option("--gpus", words.gpus, "LIST", "auto, or A[,B]: index, UUID prefix, PCI address or name (auto)");
  option("--simulate-dual", words.simulateDual, "Open one GPU twice");
  option("--topology", words.topology, "NAME", "auto, single, group or independent (auto)");
  option("--link", words.link, "NAME", "auto, peer, cuda, host-import or host-copy (auto)");
  option("--link-gbps", words.linkGbps, "N", "Throttle the link: how would a slot of N GB/s do?");
  option("--rows-share", words.rowsShare, "A,B",
         "sfr: share of the rows per GPU, in proportion (balanced every frame)");
  option("--tracer", words.tracer, "NAME",
         "compute, rt (ray-tracing pipelines), or auto: bench times both once, others take compute");
  option("--validation", words.validation, "Run under Vulkan's validation layers; any message: exit code 1");
}

Problem readPicture(const RenderWords& words, frame::PictureSettings& picture) {
  using post::Tone;
  const auto tone = [](const std::string& text) {
    return parseWord<Tone>("--tonemap", text, {{"aces", Tone::Aces}, {"neutral", Tone::Neutral}, {"none", Tone::None}});
  };
  if (auto no = readInto(picture.size, words.size, parseSize)) return no;
  if (auto no = readInto(picture.bounces, words.bounces, countOf("--bounces", 0, 1024))) return no;
  if (auto no = readInto(picture.seed, words.seed, countOf("--seed", 0, UINT32_MAX))) return no;
  if (auto no = readInto(picture.ev, words.exposure, parseExposure)) return no;
  return readInto(picture.tone, words.tonemap, tone);
}

Problem readSamples(const RenderWords& words, std::optional<uint32_t>& samples) {
  return readInto(samples, words.samples, countOf("--samples", 1, 1u << 20));
}

Problem readBlur(const RenderWords& words, frame::PictureSettings& picture, jobs::FrameTimes& times) {
  const auto blur = [](const std::string& text) {
    return parseWord<bool>("--motion-blur", text, {{"post", true}, {"off", false}}, {"accumulate"});
  };
  if (auto no = readInto(times.shutterDegrees, words.shutter, parseShutter)) return no;
  if (auto no = readInto(picture.motionBlur, words.motionBlur, blur)) return no;
  if (times.shutterDegrees == 0.0) picture.motionBlur = false;
  return std::nullopt;
}

Problem readMachine(const RenderWords& words, frame::MachineSettings& machine) {
  using topology::LinkKind, topology::TopologyKind, frame::Tracer;
  const auto kind = [](const std::string& text) {
    return parseWord<TopologyKind>("--topology", text,
                                   {{"auto", TopologyKind::Auto},
                                    {"single", TopologyKind::Single},
                                    {"group", TopologyKind::Group},
                                    {"independent", TopologyKind::Independent}});
  };
  const auto link = [](const std::string& text) {
    return parseWord<LinkKind>("--link", text,
                               {{"auto", LinkKind::Auto},
                                {"peer", LinkKind::Peer},
                                {"cuda", LinkKind::Cuda},
                                {"host-import", LinkKind::HostImport},
                                {"host-copy", LinkKind::HostCopy}});
  };
  const auto tracer = [](const std::string& text) {
    return parseWord<Tracer>("--tracer", text,
                             {{"auto", Tracer::Auto}, {"compute", Tracer::Compute}, {"rt", Tracer::Rt}});
  };
  if (!words.gpus.empty()) machine.gpus = words.gpus;
  machine.simulateDual = words.simulateDual;
  if (auto no = readInto(machine.topology, words.topology, kind)) return no;
  if (auto no = readInto(machine.link, words.link, link)) return no;
  if (auto no = readInto(machine.linkGbps, words.linkGbps, parseThrottle)) return no;
  if (auto no = readInto(machine.shares, words.rowsShare, parseShares)) return no;
  return readInto(machine.tracer, words.tracer, tracer);
}

Problem findEmptyValue(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_expected_min() == 0 || option->count() == 0) continue;
    for (const std::string& value : option->results()) {
      if (value.empty()) return refuse(ExitCode::WrongUsage, "{}: its value is empty", option->get_name());
    }
  }
  return std::nullopt;
}

bool looksLikeScene(const std::string& word) {
  std::string lower = word;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower.starts_with("builtin:") || lower.ends_with(".gltf") || lower.ends_with(".glb");
}

}  // namespace tandem::app
