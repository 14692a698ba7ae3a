#include "gpu/uploader.h"

#include <algorithm>
#include <utility>

#include "gpu/device.h"

namespace tandem::gpu {

Uploader::Uploader(Device& device, std::string name) : device_(device), name_(std::move(name)) {}

Uploader::~Uploader() {
  try {
    for (Turn& turn : turns_) wait(turn);
  } catch (...) {
    // A lost device: nothing is under way any more, and whoever is told of it is being told.
  }
}

Uploader::Turn& Uploader::begin() {
  Turn& turn = turns_[turn_];
  if (recording_) return turn;
  wait(turn);
  if (!turn.commands) turn.commands.emplace(device_, name_);
  turn.commands->begin();
  recording_ = true;
  return turn;
}

void Uploader::add(const Buffer& target, uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    Turn& turn = begin();
    const uint64_t piece = std::min<uint64_t>(bytes.size(), kPiece - staged_);
    turn.commands->update(target, offset, bytes.first(piece));
    bytes = bytes.subspan(piece);
    offset += piece;
    staged_ += piece;
    if (staged_ == kPiece) submit();
  }
}

void Uploader::submit() {
  Turn& turn = turns_[turn_];
  turn.commands->barrier();
  turn.commands->end();
  turn.done = device_.queue().submit(turn.commands->handle(), {}, name_);
  recording_ = false;
  staged_ = 0;
  turn_ = 1 - turn_;
}

void Uploader::wait(Turn& turn) {
  if (turn.done.queue != nullptr) turn.done.queue->wait(turn.done.value, name_);
  turn.done = {};
}

void Uploader::finish() {
  if (recording_) submit();
  for (Turn& turn : turns_) wait(turn);
}

}  // namespace tandem::gpu
