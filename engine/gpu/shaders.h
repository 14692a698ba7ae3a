// Shaders as they were compiled into the program: SPIR-V words by name ("post/tonemap" for shaders/post/tonemap.comp);
// the shaders of ray-tracing pipelines keep their extension ("trace/path_trace.rgen").
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tandem::gpu {

struct Shader {
  std::string_view name;
  const uint32_t* words = nullptr;
  size_t bytes = 0;
};

/// An unknown name is a broken promise.
const Shader& findShader(std::string_view name);

}  // namespace tandem::gpu
