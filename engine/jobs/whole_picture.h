// Is a picture on disk whole? Asked by --resume, of files that an earlier run, or anyone, has left.
#pragma once

#include <optional>
#include <string>

#include "base/math.h"

namespace tandem::jobs {

/// Width and height of an EXR or PNG (by extension) that is there to its last pixel; nothing where it is missing,
/// truncated or another kind of file. Never throws for what a file contains.
std::optional<Extent> sizeOfWholePicture(const std::string& path);

}  // namespace tandem::jobs
