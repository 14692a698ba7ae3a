// Errors, in three classes, with one mechanism each (engine/decisions/0003-errors.md):
//   BrokenPromise   Tandem broke a promise of its own.         Thrown by TANDEM_CHECK; a bug, exit code 1.
//   AdverseError    The machine let us down while running.     Thrown; disk full, device lost, driver failure; exit
//   code 1. Refusal         An expected "no", with its reason.         A value: returned in Expected<T>, never thrown.
// Every message names the file, field or call, and says what to do.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace tandem {

/// Exit codes of the program (README.md, "Exit codes").
enum class ExitCode : int {
  Done = 0,
  Failed = 1,
  WrongUsage = 2,
  UnusableInput = 3,
  NoUsableGpu = 4,
  SomeFramesFailed = 5,
  Interrupted = 130,
};

class BrokenPromise : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

class AdverseError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An expected refusal: what was refused and why (`message`), and the exit code that fits where it ends the program.
struct Refusal {
  ExitCode exit = ExitCode::Failed;
  std::string message;
};

/// A value, or the reason why there is none. Test it before use; taking what is not there is a broken promise.
template <class T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Expected(Refusal refusal) : state_(std::in_place_index<1>, std::move(refusal)) {}

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() { return get(); }
  const T& operator*() const { return const_cast<Expected*>(this)->get(); }
  T* operator->() { return &get(); }
  const T* operator->() const { return &const_cast<Expected*>(this)->get(); }
  const Refusal& refusal() const { return std::get<1>(state_); }

 private:
  T& get() {
    if (state_.index() != 0) throw BrokenPromise("an Expected was used that holds a refusal: " + refusal().message);
    return std::get<0>(state_);
  }
  std::variant<T, Refusal> state_;
};

namespace detail {
[[noreturn]] void brokenPromise(const char* condition, const char* file, int line, const std::string& message);
}

/// An adverse condition, formatted: `throw adverse("cannot write {}: {}", path, reason);`
template <class... Args>
AdverseError adverse(fmt::format_string<Args...> format, Args&&... args) {
  return AdverseError(fmt::format(format, std::forward<Args>(args)...));
}

/// A refusal, formatted: `return refuse(ExitCode::UnusableInput, "{}: not a glTF file", path);`
template <class... Args>
Refusal refuse(ExitCode exit, fmt::format_string<Args...> format, Args&&... args) {
  return Refusal{exit, fmt::format(format, std::forward<Args>(args)...)};
}

}  // namespace tandem

/// A promise of our own code. `TANDEM_CHECK(slot < slots, "slot {} of {}", slot, slots);`
#define TANDEM_CHECK(condition, ...) \
  (static_cast<bool>(condition)      \
       ? void(0)                     \
       : ::tandem::detail::brokenPromise(#condition, __FILE__, __LINE__, ::fmt::format(__VA_ARGS__)))
