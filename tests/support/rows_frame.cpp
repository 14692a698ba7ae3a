#include "support/rows_frame.h"

#include <memory>

#include "gpu/commands.h"
#include "graph/recording.h"
#include "graph/row_deal.h"

namespace tandem::test {
namespace {

struct MakeRowsPush {
  uint64_t target, bandTops;
  uint32_t width, rows, bandRows, constant, rounds;
};
struct CombineRowsPush {
  uint64_t target, first, second;
  uint32_t width, height, shift, constant, rounds;
};

enum Constant : uint32_t { Colour = 1, Motion = 2, Mix = 3, Final = 4 };
constexpr uint32_t kMixShift = 9, kFinalShift = 0;  // 9: always in another band

uint32_t constantOf(uint32_t constant, uint32_t frame) { return constant * 0x01010101u + 1000 * frame; }

uint32_t worked(uint32_t state, uint32_t rounds) {
  for (uint32_t r = 0; r < rounds; ++r) state = state * 2891336453u + (state >> 15);
  return state;
}

uint32_t combined(uint32_t constant, uint32_t i, uint32_t first, uint32_t second, uint32_t rounds) {
  uint32_t state = constant ^ i;
  state = state * 747796405u + first + 1u;
  state = state * 747796405u + second + 1u;
  return worked(state, rounds);
}

}  // namespace

RowsFrame::RowsFrame(uint32_t frames, uint32_t rounds)
    : frames_(frames), rounds_(rounds), result_(frames), colourRead_(frames) {
  graph_.addPass(
      "make",
      [&](graph::PassBuilder& builder) {
        colour_ = builder.create<Texel>({"colour", kRowBytes, kHeight});
        motion_ = builder.create<Texel>({"motion", kRowBytes, kHeight});
        builder.shareable();
      },
      [this](graph::Recording& recording) {
        const graph::RowShare share = recording.share();
        if (share.rows == 0) return;
        const uint64_t tops = recording.commands().uploadBytes(std::as_bytes(share.bandTops));
        const auto fill = [&](Plane plane, uint32_t constant) {
          const MakeRowsPush push{recording.buffer(plane).address(), tops,   kWidth, share.rows, graph::kBandRows,
                                  constantOf(constant, frame_),      rounds_};
          recording.commands().dispatch("test/make_rows", push, {gpu::groupsFor(share.rows * kWidth, 64), 1, 1});
        };
        fill(colour_, Colour);
        fill(motion_, Motion);
      });
  const Plane mixed = addReader("mix", colour_, motion_, kMixShift, Mix);
  const Plane last = addReader("final", mixed, colour_, kFinalShift, Final);
  result_.addTo(graph_, "read result", last);
  colourRead_.addTo(graph_, "read colour", colour_);
}

RowsFrame::Plane RowsFrame::addReader(const char* name, Plane first, Plane second, uint32_t shift, uint32_t constant) {
  auto target = std::make_shared<Plane>();
  return graph_.addPass(
      name,
      [&](graph::PassBuilder& builder) {
        builder.readRows(first), builder.readRows(second);
        *target = builder.create<Texel>({name, kRowBytes, kHeight});
        return *target;
      },
      [=, this](graph::Recording& recording) {
        const CombineRowsPush push{recording.buffer(*target).address(),
                                   recording.rows(first),
                                   recording.rows(second),
                                   kWidth,
                                   kHeight,
                                   shift,
                                   constantOf(constant, frame_),
                                   rounds_};
        recording.commands().dispatch("test/combine_rows", push, {gpu::groupsFor(kHeight * kWidth, 64), 1, 1});
      });
}

void RowsFrame::setFrame(uint32_t frame) {
  frame_ = frame;
  result_.setSlot(frame);
  colourRead_.setSlot(frame);
}

uint64_t RowsFrame::wrong(uint32_t step) const {
  const auto made = [&](uint32_t constant, uint32_t frame, uint32_t i) {
    return worked(constantOf(constant, frame) ^ i, rounds_);
  };
  uint64_t wrong = 0;
  for (uint32_t frame = 0; frame < frames_; ++frame) {
    const auto* result = reinterpret_cast<const uint32_t*>(result_.bytes(frame).data());
    const auto* colour = reinterpret_cast<const uint32_t*>(colourRead_.bytes(frame).data());
    for (uint32_t i = 0; i < kWidth * kHeight; i += step) {
      const uint32_t shifted = (i + kMixShift * kWidth) % (kWidth * kHeight);
      const uint32_t mixed =
          combined(constantOf(Mix, frame), i, made(Colour, frame, shifted), made(Motion, frame, i), rounds_);
      const uint32_t own = made(Colour, frame, i);
      wrong += colour[i] != own ? 1 : 0;
      wrong += result[i] != combined(constantOf(Final, frame), i, mixed, own, rounds_) ? 1 : 0;
    }
  }
  return wrong;
}

}  // namespace tandem::test
