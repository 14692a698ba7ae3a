// The tables on the benchmark's page. Each is markup (html.h), or empty where there is nothing to tell. Pure;
// thread-safe.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tandem::jobs {

std::string machineTables(const nlohmann::json& machine);
/// Of one scene: the modes side by side, what limits each, then the particulars.
std::string modeTables(const nlohmann::json& scene);
std::string limitsList(const nlohmann::json& scene);
std::string nodeAndLinkTables(const nlohmann::json& scene);
std::string proofsTable(const nlohmann::json& scene);

/// "1.91 to 1.95" of {"low", "high"}; N/A where there is none.
std::string intervalText(const nlohmann::json& low, const nlohmann::json& high, int decimals);

}  // namespace tandem::jobs
