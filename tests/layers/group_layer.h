// What the group layer (group_layer.cpp) has seen, for the tests that run above it.
#pragma once

#include <cstdint>

/// Counts since the layer was loaded; index: physical device of the group.
struct GroupLayerCounts {
  uint64_t devices = 0;             // logical devices over a group of two
  uint64_t allocatedBytes[2] = {};  // memory of that physical device alone
  uint64_t sharedAllocations = 0;   // made without a mask, or for both: memory that nobody meant to have twice
  uint64_t begins[2] = {};          // command buffers begun for that physical device alone
  uint64_t submits[2] = {};         // command buffers submitted to it
  uint64_t wrongSubmits = 0;        // to no, both, or another physical device than they were begun for
  uint64_t peerCopies = 0;          // copies from one physical device's memory into the other's
  uint64_t strayAccesses = 0;  // of copies and fills to an instance of memory that does not exist or may not be reached
};

using GroupLayerCountsFunction = void (*)(GroupLayerCounts*);
inline constexpr const char* kGroupLayerCountsName = "tandemGroupLayerCounts";
