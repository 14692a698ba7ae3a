// Push constants of tests/gpu/shaders/combine.comp.
#pragma once

#include <cstdint>

namespace tandem::test {

struct CombinePush {
  uint64_t target;
  uint64_t inputs[4];
  uint32_t inputCount;
  uint32_t constant;
  uint32_t count;
  uint32_t rounds;
};

}  // namespace tandem::test
