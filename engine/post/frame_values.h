// What post passes need to know of the frame that is being recorded.
#pragma once

#include <cstdint>

namespace tandem::post {

/// Changed by the renderer before each recording; passes hold it behind shared_ptr<const PostFrame> and read it while
/// they record. Render thread only.
struct PostFrame {
  uint32_t frame = 0;  // number of the frame in its sequence; moves noise and dither
};

}  // namespace tandem::post
