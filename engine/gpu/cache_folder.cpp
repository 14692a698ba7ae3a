#include "gpu/cache_folder.h"

#include <cstdlib>

namespace tandem::gpu {

std::filesystem::path cacheFolder() {
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg == '/')
    return std::filesystem::path(xdg) / "tandem";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return std::filesystem::path(home) / ".cache" / "tandem";
  return {};
}

void tuneSoftwareDevice() {
  const auto folder = cacheFolder();
  if (folder.empty() || std::getenv("LP_NATIVE_VECTOR_WIDTH") != nullptr ||
      std::getenv("MESA_SHADER_CACHE_DIR") != nullptr)
    return;
  ::setenv("LP_NATIVE_VECTOR_WIDTH", "128", 0);
  ::setenv("MESA_SHADER_CACHE_DIR", (folder / "mesa-128").c_str(), 0);
}

}  // namespace tandem::gpu
