#include "base/check.h"

#include <string_view>

namespace tandem::detail {

void brokenPromise(const char* condition, const char* file, int line, const std::string& message) {
  std::string_view path(file);
  if (const auto at = path.rfind("engine/"); at != std::string_view::npos) path.remove_prefix(at);
  throw BrokenPromise(
      fmt::format("{} (promise '{}' broken at {}:{}; please report this)", message, condition, path, line));
}

}  // namespace tandem::detail
