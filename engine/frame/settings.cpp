#include "frame/settings.h"

namespace tandem::frame {

std::string_view modeName(Mode mode) {
  switch (mode) {
    case Mode::Auto:
      return "auto";
    case Mode::Single:
      return "single";
    case Mode::Pipelined:
      return "pipelined";
    case Mode::Sfr:
      return "sfr";
    case Mode::Afr:
      return "afr";
  }
  return "auto";
}

std::string_view tracerName(Tracer tracer) {
  switch (tracer) {
    case Tracer::Auto:
      return "auto";
    case Tracer::Compute:
      return "compute";
    case Tracer::Rt:
      return "rt";
  }
  return "auto";
}

std::string_view aovName(Aov aov) {
  switch (aov) {
    case Aov::Albedo:
      return "albedo";
    case Aov::Normal:
      return "normal";
    case Aov::Depth:
      return "depth";
    case Aov::Motion:
      return "motion";
  }
  return "albedo";
}

}  // namespace tandem::frame
