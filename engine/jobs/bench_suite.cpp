#include "jobs/bench_suite.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "jobs/load_scene.h"

namespace tandem::jobs {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::json;

constexpr std::string_view kSuites[] = {"quick", "standard", "full"};
constexpr uint32_t kMostSide = 65536;  // how many pixels a picture may have is the renderer's to say
constexpr double kMostSeconds = 3600.0;

std::string join(const std::set<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return list;
}

/// The first thing that is wrong with a file.
class Complaint {
 public:
  explicit Complaint(std::string file) : file_(std::move(file)) {}
  void note(const std::string& field, const std::string& what) {
    if (!first_) first_ = refuse(ExitCode::UnusableInput, "{}: {}: {}", file_, field, what);
  }
  const std::optional<Refusal>& first() const { return first_; }

 private:
  std::string file_;
  std::optional<Refusal> first_;
};

/// Reads one JSON object field by field. What is wrong is noted, and the value is then empty.
class Fields {
 public:
  /// `where`: the object's place in the file, for messages; empty for the outermost.
  Fields(const json& object, std::string where, Complaint& complaint)
      : object_(object), where_(std::move(where)), complaint_(complaint) {
    if (!object.is_object()) complaint_.note(where_.empty() ? "the file" : where_, "must be an object in braces");
  }

  std::string path(const std::string& field) const { return where_.empty() ? field : where_ + "." + field; }
  void note(const std::string& field, const std::string& what) const { complaint_.note(path(field), what); }

  /// The field's value; nullptr where it is not there.
  const json* find(const std::string& field) {
    known_.insert(field);
    const auto found = object_.is_object() ? object_.find(field) : object_.end();
    return found == object_.end() ? nullptr : &*found;
  }
  const json* need(const std::string& field) {
    const json* value = find(field);
    if (!value) note(field, "is missing");
    return value;
  }
  std::string text(const std::string& field) {
    const json* value = need(field);
    if (value && value->is_string() && *value != "") return value->get<std::string>();
    if (value) note(field, fmt::format("must be a text in quotes that is not empty, not {}", value->dump()));
    return {};
  }
  std::string optionalText(const std::string& field) { return find(field) ? text(field) : std::string(); }
  std::optional<uint32_t> count(const std::string& field, uint32_t least, uint32_t most) {
    const json* value = find(field);
    if (!value) return std::nullopt;
    if (isCount(*value, least, most)) return value->get<uint32_t>();
    note(field, fmt::format("must be a whole number from {} to {}, not {}", least, most, value->dump()));
    return std::nullopt;
  }
  static bool isCount(const json& value, uint32_t least, uint32_t most) {
    return value.is_number_unsigned() && value.get<uint64_t>() >= least && value.get<uint64_t>() <= most;
  }
  /// To be called last: any field that was not asked for until now is one that there is not.
  void refuseOthers() const {
    if (!object_.is_object()) return;
    for (const auto& [field, value] : object_.items()) {
      if (!known_.contains(field)) note(field, "there is no such field; there are " + join(known_));
    }
  }

 private:
  const json& object_;
  std::string where_;
  Complaint& complaint_;
  std::set<std::string> known_;
};

std::optional<Extent> readSize(Fields& fields) {
  const json* value = fields.find("size");
  if (!value) return std::nullopt;
  const auto isSide = [](const json& side) { return Fields::isCount(side, 1, kMostSide); };
  if (value->is_array() && value->size() == 2 && std::ranges::all_of(*value, isSide))
    return Extent{(*value)[0].get<uint32_t>(), (*value)[1].get<uint32_t>()};
  fields.note("size",
              fmt::format("must be [WIDTH, HEIGHT] in pixels, each from 1 to {}, not {}", kMostSide, value->dump()));
  return std::nullopt;
}

std::optional<double> readShutter(Fields& fields) {
  const json* value = fields.find("shutterDegrees");
  if (!value) return std::nullopt;
  if (value->is_number() && value->get<double>() >= 0.0 && value->get<double>() <= 360.0) return value->get<double>();
  fields.note("shutterDegrees", fmt::format("must be a number from 0 to 360, not {}", value->dump()));
  return std::nullopt;
}

std::optional<double> readSeconds(Fields& fields) {
  const json* value = fields.find("seconds");
  if (!value) return std::nullopt;
  if (value->is_number() && value->get<double>() > 0.0 && value->get<double>() <= kMostSeconds)
    return value->get<double>();
  fields.note("seconds", fmt::format("must be a number above 0, at most {}, not {}", kMostSeconds, value->dump()));
  return std::nullopt;
}

std::string readScaling(Fields& fields) {
  const std::string scaling = fields.optionalText("scaling");
  if (!scaling.empty() && scaling != "strong" && scaling != "weak")
    fields.note("scaling", fmt::format("must be \"strong\" or \"weak\", not \"{}\"", scaling));
  return scaling;
}

std::optional<frame::Mode> modeOf(const json& word) {
  for (const frame::Mode mode : {frame::Mode::Single, frame::Mode::Pipelined, frame::Mode::Sfr, frame::Mode::Afr}) {
    if (word == frame::modeName(mode)) return mode;
  }
  return std::nullopt;
}

std::vector<frame::Mode> readModes(Fields& fields) {
  const json* value = fields.find("modes");
  std::vector<frame::Mode> modes;
  if (!value) return modes;
  if (!value->is_array() || value->empty()) {
    fields.note("modes", "must be a list of modes, [\"single\", \"sfr\"]; leave it out to measure all of them");
    return modes;
  }
  for (size_t i = 0; i < value->size(); ++i) {
    const std::string field = fmt::format("modes[{}]", i);
    const std::optional<frame::Mode> mode = modeOf((*value)[i]);
    if (!mode) {
      fields.note(field, fmt::format("must be single, pipelined, sfr or afr, not {}", (*value)[i].dump()));
    } else if (std::ranges::find(modes, *mode) != modes.end()) {
      fields.note(field, fmt::format("{} is there twice", frame::modeName(*mode)));
    } else {
      modes.push_back(*mode);
    }
  }
  return modes;
}

BenchCase readCase(Fields fields, const fs::path& assets) {
  BenchCase found;
  found.name = fields.text("name");
  found.scene = fields.text("scene");
  found.load = isBuiltin(found.scene) ? found.scene : (assets / found.scene).lexically_normal().string();
  found.size = readSize(fields);
  found.samples = fields.count("samples", 1, 1u << 20);
  found.bounces = fields.count("bounces", 0, 1024);
  found.shutterDegrees = readShutter(fields);
  found.scaling = readScaling(fields);
  found.series = fields.optionalText("series");
  found.modes = readModes(fields);
  fields.refuseOthers();
  return found;
}

std::vector<BenchCase> readCases(Fields& fields, const fs::path& assets, Complaint& complaint) {
  const json* value = fields.need("cases");
  std::vector<BenchCase> cases;
  if (!value) return cases;
  if (!value->is_array() || value->empty()) {
    fields.note("cases", "must be a list of at least one case");
    return cases;
  }
  for (size_t i = 0; i < value->size(); ++i) {
    const std::string where = fmt::format("cases[{}]", i);
    BenchCase next = readCase(Fields((*value)[i], where, complaint), assets);
    const auto same = std::ranges::find(cases, next.name, &BenchCase::name);
    if (same != cases.end())
      complaint.note(where + ".name", fmt::format("\"{}\" is the name of cases[{}], too", next.name,
                                                  std::distance(cases.begin(), same)));
    cases.push_back(std::move(next));
  }
  return cases;
}

BenchSuite suiteFrom(const json& document, const fs::path& assets, Complaint& complaint) {
  Fields fields(document, "", complaint);
  BenchSuite suite;
  suite.name = fields.text("name");
  suite.description = fields.text("description");
  suite.repeats = fields.count("repeats", 1, 1000);
  suite.frames = fields.count("frames", 1, 1'000'000);
  suite.seconds = readSeconds(fields);
  if (suite.frames && suite.seconds) fields.note("seconds", "frames stands there, too: give one of them");
  suite.cases = readCases(fields, assets, complaint);
  fields.refuseOthers();
  return suite;
}

Expected<fs::path> fileAt(const std::string& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) return fs::path(path);
  return refuse(ExitCode::UnusableInput, "{}: there is no such file: give quick, standard, full or a suite's path",
                path);
}

}  // namespace

Expected<BenchSuite> readSuite(const fs::path& file) {
  std::error_code error;
  std::ifstream in;
  if (fs::is_regular_file(file, error)) in.open(file, std::ios::binary);
  if (!in.is_open())
    return refuse(ExitCode::UnusableInput, "{}: the suite cannot be read: is it a file, and may you?", file.string());
  json document;
  try {
    document = json::parse(in);
  } catch (const json::exception& problem) {
    return refuse(ExitCode::UnusableInput, "{}: the suite is not JSON: {}", file.string(), problem.what());
  }
  Complaint complaint(file.string());
  BenchSuite suite = suiteFrom(document, fs::absolute(file).parent_path().parent_path(), complaint);
  if (complaint.first()) return *complaint.first();
  return suite;
}

Expected<fs::path> findSuite(const std::string& name) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  const fs::path folders[] = {program, program.parent_path()};  // of the bundle; of the source tree around build/
  return findSuite(name, folders);
}

Expected<fs::path> findSuite(const std::string& name, std::span<const fs::path> folders) {
  if (name.ends_with(".json")) return fileAt(name);
  if (std::ranges::find(kSuites, name) == std::end(kSuites)) {
    return refuse(ExitCode::WrongUsage, "--suite {}: give quick, standard, full or the path of a .json file", name);
  }
  std::string looked;
  for (const fs::path& folder : folders) {
    const fs::path file = folder / "assets" / "bench" / (name + ".json");
    std::error_code error;
    if (fs::is_regular_file(file, error)) return file;
    looked += (looked.empty() ? "" : " and ") + file.string();
  }
  return refuse(ExitCode::UnusableInput, "--suite {}: the file is not beside the program; looked for {}", name, looked);
}

}  // namespace tandem::jobs
