// Pieces of the benchmark's JSON (schema 2). Times in the unit that their names end in; null: not known.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "jobs/bench_report.h"

namespace tandem::jobs {

template <class T>
nlohmann::ordered_json orNull(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json statisticsJson(const Statistics& values);
nlohmann::ordered_json modeJson(const SceneReport& scene, const ModeReport& mode, const BenchReport& report);

}  // namespace tandem::jobs
