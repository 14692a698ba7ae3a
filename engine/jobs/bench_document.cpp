#include "jobs/bench_document.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "jobs/bootstrap.h"

namespace tandem::jobs {

using json = nlohmann::json;

const json& at(const json& object, std::string_view key) {
  static const json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(std::string(key));
  return found == object.end() ? kNull : *found;
}

const json& listOf(const json& value) {
  static const json kEmpty = json::array();
  return value.is_array() ? value : kEmpty;
}

std::optional<double> numberOf(const json& value) {
  if (!value.is_number()) return std::nullopt;
  const auto number = value.get<double>();
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

std::string textOf(const json& value) {
  return value.is_string() ? value.get<std::string>() : std::string(kNotAvailable);
}

std::vector<double> seriesOf(const json& value) {
  std::vector<double> series;
  series.reserve(listOf(value).size());
  for (const json& element : listOf(value)) {
    if (const auto number = numberOf(element)) series.push_back(*number);
  }
  return series;
}

std::string figure(std::optional<double> value, int decimals) {
  if (!value) return std::string(kNotAvailable);
  std::string text = fmt::format("{:.{}f}", *value, decimals);
  // What rounds to nothing has no sign.
  if (text.front() == '-' && text.find_first_of("123456789") == std::string::npos) text.erase(0, 1);
  return text;
}

std::string figureOf(const json& value, int decimals) { return figure(numberOf(value), decimals); }

std::string sizeText(const json& size) {
  const std::vector<double> sides = seriesOf(size);
  return sides.size() == 2 ? fmt::format("{:.0f}x{:.0f}", sides[0], sides[1]) : std::string(kNotAvailable);
}

namespace {

/// Where the series of one run cannot be reckoned with: which field, and why.
std::optional<std::string> faultOfRun(const json& run) {
  double sum = 0.0;
  size_t index = 0;
  for (const json& element : listOf(at(run, "frameMs"))) {
    const auto ms = numberOf(element);
    if (!ms || *ms < 0.0) return fmt::format("frameMs[{}]: {} is no frame time", index, element.dump());
    if ((sum += *ms) > kLongestRunMs) return fmt::format("frameMs[{}]: the run would be longer than 11 days", index);
    ++index;
  }
  return std::nullopt;
}

std::optional<std::string> faultOfScenes(const json& scenes) {
  if (!scenes.is_array()) return "scenes: a list is wanted";
  for (size_t scene = 0; scene < scenes.size(); ++scene) {
    const json& modes = listOf(at(scenes[scene], "modes"));
    for (size_t mode = 0; mode < modes.size(); ++mode) {
      const json& runs = listOf(at(modes[mode], "runs"));
      for (size_t run = 0; run < runs.size(); ++run) {
        if (const auto fault = faultOfRun(runs[run]))
          return fmt::format("scenes[{}].modes[{}].runs[{}].{}", scene, mode, run, *fault);
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Refusal> checkBenchDocument(const json& document, const std::string& name) {
  if (at(document, "kind") != "tandem bench")
    return refuse(ExitCode::UnusableInput,
                  "{}: no report of tandem bench; give a file that `tandem bench --json` wrote", name);
  const json& schema = at(document, "schema");
  if (schema != kBenchSchema)
    return refuse(ExitCode::UnusableInput, "{}: schema {}; this program reads schema {}: measure again with it", name,
                  schema.dump(), kBenchSchema);
  if (const auto fault = faultOfScenes(at(document, "scenes")))
    return refuse(ExitCode::UnusableInput, "{}: {}", name, *fault);
  return std::nullopt;
}

Expected<json> readBenchFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return refuse(ExitCode::UnusableInput, "{}: cannot be read", path.string());
  try {
    json document = json::parse(file);
    if (auto refusal = checkBenchDocument(document, path.string())) return std::move(*refusal);
    return document;
  } catch (const json::exception& error) {
    return refuse(ExitCode::UnusableInput, "{}: no JSON: {}", path.string(), error.what());
  } catch (const std::ios_base::failure& error) {  // a folder opens, and fails where it is read
    return refuse(ExitCode::UnusableInput, "{}: cannot be read: {}", path.string(), error.what());
  }
}

}  // namespace tandem::jobs
