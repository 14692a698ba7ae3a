// What ran where, as JSON: the same in every report.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "frame/renderer.h"

namespace tandem::jobs {

nlohmann::ordered_json nodeJson(const frame::NodeReport& node);
nlohmann::ordered_json linkJson(const exec::LinkUse& link);

}  // namespace tandem::jobs
