// What makes a comparison of two reports of the benchmark doubtful. Pure; thread-safe.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace tandem::jobs {

/// One sentence each, without line end: another CPU, adapter or driver, other settings, another build, software
/// devices, one GPU opened twice, an interrupted run. Empty: they can be compared as they are.
std::vector<std::string> doubtsOf(const nlohmann::json& before, const nlohmann::json& after);

/// Where two cases of one name do not ask for the same pictures: "size [1920,1080] -> [3840,2160]", one each.
std::vector<std::string> otherWork(const nlohmann::json& sceneBefore, const nlohmann::json& sceneAfter);

}  // namespace tandem::jobs
