// Host bytes to device buffers, for loading: through two pieces of staging memory in turn, so that the host fills one
// while the device empties the other, and staging stays small however large the scene. Used by one thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "gpu/commands.h"
#include "gpu/queue.h"

namespace tandem::gpu {

class Uploader {
 public:
  static constexpr uint64_t kPiece = uint64_t{32} << 20;  // bytes in one submission, at most

  Uploader(Device& device, std::string name);
  /// Waits for what was submitted; drops what was not.
  ~Uploader();
  Uploader(const Uploader&) = delete;
  Uploader& operator=(const Uploader&) = delete;

  /// Copies `bytes` to `target` at `offset`. They are read before this returns; they have arrived after finish().
  void add(const Buffer& target, uint64_t offset, std::span<const std::byte> bytes);
  /// Submits the rest and waits for all of it. All later submissions of the device's queue see it.
  void finish();

 private:
  struct Turn {
    std::optional<Commands> commands;
    SyncPoint done;
  };
  Turn& begin();
  void submit();
  void wait(Turn& turn);

  Device& device_;
  std::string name_;
  std::array<Turn, 2> turns_;
  size_t turn_ = 0;
  bool recording_ = false;
  uint64_t staged_ = 0;
};

}  // namespace tandem::gpu
