#include "jobs/frame_time.h"

#include <numeric>
#include <optional>

namespace tandem::jobs {
namespace {

constexpr uint64_t kMaxTerm = 100'000'000;

struct Fraction {
  uint64_t numerator = 0;
  uint64_t denominator = 1;
};

/// A decimal number without sign, exactly: 23.976 = 23976/1000. At most 6 digits on either side of the point: no
/// product below can overflow.
std::optional<Fraction> parseDecimal(std::string_view text) {
  const size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view part = point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
  if (whole.empty() || whole.size() > 6 || part.size() > 6) return std::nullopt;
  Fraction value;
  for (const std::string_view digits : {whole, part}) {
    for (const char digit : digits) {
      if (digit < '0' || digit > '9') return std::nullopt;
      value.numerator = value.numerator * 10 + static_cast<uint64_t>(digit - '0');
    }
  }
  for (size_t i = 0; i < part.size(); ++i) value.denominator *= 10;
  return value;
}

}  // namespace

Expected<FrameRate> parseFrameRate(std::string_view text) {
  const size_t slash = text.find('/');
  const std::optional<Fraction> over = parseDecimal(text.substr(0, slash));
  const std::optional<Fraction> under =
      slash == std::string_view::npos ? Fraction{1, 1} : parseDecimal(text.substr(slash + 1));
  if (over && under && over->numerator > 0 && under->numerator > 0) {
    const uint64_t numerator = over->numerator * under->denominator;
    const uint64_t denominator = over->denominator * under->numerator;
    const uint64_t common = std::gcd(numerator, denominator);
    if (numerator / common <= kMaxTerm && denominator / common <= kMaxTerm) {
      return FrameRate{static_cast<uint32_t>(numerator / common), static_cast<uint32_t>(denominator / common)};
    }
  }
  return refuse(ExitCode::WrongUsage, "--fps {}: not a frame rate; write 24, 23.976 or 24000/1001", text);
}

double FrameTimes::shutterSeconds() const { return shutterDegrees / 360.0 * rate.denominator / rate.numerator; }

frame::FrameRequest requestFor(uint32_t frame, const FrameTimes& times) {
  // In units of 1 / (720 * numerator) seconds everything but a fractional shutter angle is a whole number; long double
  // keeps 64 bits.
  const auto unit = 720.0L * times.rate.numerator;
  const auto centre = 720.0L * (static_cast<int64_t>(frame) - 1) * times.rate.denominator;
  const auto half = static_cast<long double>(times.shutterDegrees) * times.rate.denominator;
  const auto seconds = [&](long double units) {
    return static_cast<double>(static_cast<long double>(times.start) + units / unit);
  };
  frame::FrameRequest request;
  request.frame = frame;
  request.centre = seconds(centre);
  request.open = seconds(centre - half);
  request.close = seconds(centre + half);
  return request;
}

}  // namespace tandem::jobs
