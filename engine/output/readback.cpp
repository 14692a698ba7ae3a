#include "output/readback.h"

#include "gpu/commands.h"

namespace tandem::output {

Readback::Readback(uint32_t slots) : ring_(slots) { TANDEM_CHECK(slots > 0, "a readback without slots"); }

void Readback::setSlot(uint32_t slot, bool copies) {
  TANDEM_CHECK(slot < ring_.size(), "readback {}: slot {} of {}", name_, slot, ring_.size());
  slot_ = slot;
  copies_ = copies;
}

void Readback::record(gpu::Commands& commands, const std::vector<graph::RowRun>& runs) {
  if (!copies_) return;
  gpu::Buffer& target = ring_[slot_];
  // The plan may have moved the pass to another device since.
  if (!target || &target.device() != &commands.device()) {
    target = gpu::Buffer(commands.device(), bytes_, gpu::Memory::Readback, fmt::format("{} slot {}", name_, slot_));
  }
  for (const graph::RowRun& run : runs) {
    commands.copy(*run.buffer, run.bufferRow * rowBytes_, target, run.row * rowBytes_, run.count * rowBytes_);
  }
  commands.barrierToHost();
}

std::span<const std::byte> Readback::bytes(uint32_t slot) const {
  TANDEM_CHECK(slot < ring_.size() && ring_[slot], "readback {}: slot {} holds no frame", name_, slot);
  ring_[slot].invalidate();
  return std::span<const std::byte>(ring_[slot].mapped()).first(bytes_);
}

}  // namespace tandem::output
