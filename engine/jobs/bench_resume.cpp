#include "jobs/bench_resume.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tandem::jobs {
namespace {

using json = nlohmann::ordered_json;

/// What must be the same, by JSON pointer.
constexpr const char* kSame[] = {"/schema",
                                 "/version",
                                 "/commit",
                                 "/build",
                                 "/suite",
                                 "/machine/cpu",
                                 "/machine/kernel",
                                 "/settings/samples",
                                 "/settings/size",
                                 "/settings/bounces",
                                 "/settings/seed",
                                 "/settings/motionBlur",
                                 "/settings/frames",
                                 "/settings/seconds",
                                 "/settings/repeats",
                                 "/settings/readback",
                                 "/settings/gpus",
                                 "/settings/simulateDual",
                                 "/settings/topology",
                                 "/settings/link",
                                 "/settings/linkGbps",
                                 "/settings/rowsShare",
                                 "/settings/slowPass"};

std::string textAt(const json& document, const std::string& pointer) {
  const json::json_pointer place(pointer);
  return document.contains(place) ? document.at(place).dump() : "nothing";
}

std::string adapterNames(const json& document) {
  std::string names;
  for (const json& adapter : document["machine"]["adapters"])
    names += adapter.value("name", "") + " (" + adapter.value("driver", "") + "); ";
  return names;
}

}  // namespace

Expected<std::vector<std::string>> keepWholeCases(const std::string& earlier, const BenchReport& now,
                                                  std::vector<BenchCase>& cases) {
  const json before = json::parse(earlier, nullptr, false);
  if (!before.is_object() || before.value("kind", "") != "tandem bench" || !before.contains("scenes"))
    return refuse(ExitCode::UnusableInput, "--resume: the --json file is no report of tandem bench");
  const json present = json::parse(benchJson(now));
  for (const char* pointer : kSame) {
    const std::string then = textAt(before, pointer), today = textAt(present, pointer);
    if (then != today) {
      return refuse(ExitCode::WrongUsage, "--resume: {} was {} and is {} now: measure anew, into another file", pointer,
                    then, today);
    }
  }
  if (adapterNames(before) != adapterNames(present)) {
    return refuse(ExitCode::WrongUsage, "--resume: the GPUs were {} and are {} now: measure anew, into another file",
                  adapterNames(before), adapterNames(present));
  }
  std::vector<std::string> kept;
  for (const json& scene : before["scenes"]) {
    if (!scene.value("whole", false)) continue;
    const std::string name = scene.value("name", "");
    if (std::erase_if(cases, [&](const BenchCase& wanted) { return wanted.name == name; }) > 0)
      kept.push_back(scene.dump());
  }
  return kept;
}

}  // namespace tandem::jobs
