// `--mode auto`: tries modes on the frame that is asked for, predicts the others (schedule/planner) and picks. Render
// thread, before the first frame.
#pragma once

#include "frame/renderer.h"

namespace tandem::frame {

/// Leaves `renderer` (two nodes or more, no frame under way) in the mode that is fastest for frames like `request`,
/// never in one that measured slower than single, and says so in one line. `samples`: what the run has; it is tried
/// with fewer where a frame takes long, which only makes a second GPU look less useful than it is. `alike`: all nodes
/// are GPUs of one kind. Refuses where even `single` cannot be made.
std::optional<Refusal> settleMode(Renderer& renderer, const FrameRequest& request, uint32_t samples, bool alike);

}  // namespace tandem::frame
