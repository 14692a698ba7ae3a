// Glue that lets one header be read by C++ and by GLSL. All structures use scalar block layout (VK 1.2 scalarBlockLayout), in which GLSL
// packs as C++ does: a vec3 is 12 bytes with alignment 4, a uint64_t has alignment 8. Order members so that no padding arises, or name it.
// A device address (uint64_t) becomes a typed reference in GLSL: `Radiance(params.radiance)`.
#ifndef TANDEM_SHADERS_SHARED_TYPES_H
#define TANDEM_SHADERS_SHARED_TYPES_H

#ifdef __cplusplus
#include <cstdint>
#include <glm/glm.hpp>
#define TANDEM_SHARED_BEGIN \
  namespace tandem::shared { \
  using glm::mat4; \
  using glm::uvec2; \
  using glm::uvec4; \
  using glm::vec2; \
  using glm::vec3; \
  using glm::vec4; \
  using uint = uint32_t;
#define TANDEM_SHARED_END }
#else
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#define TANDEM_SHARED_BEGIN
#define TANDEM_SHARED_END
#endif

#endif
