// A vector whose elements are not set to zero when it grows: for large arrays that several threads are about to fill,
// each its own part. Zeroing them first would be one thread's work, and would bring every page to that thread.
#pragma once

#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace tandem {

template <class T>
struct RawAllocator : std::allocator<T> {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  template <class U>
  struct rebind {  // NOLINT(readability-identifier-naming): the standard's name
    using other = RawAllocator<U>;
  };
  RawAllocator() = default;
  template <class U>
  RawAllocator(const RawAllocator<U>&) {}

  /// Leaves memory as it is where there is nothing to make the element from.
  template <class U>
  void construct(U* place) {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class... Args>
  void construct(U* place, Args&&... args) {
    ::new (static_cast<void*>(place)) U(std::forward<Args>(args)...);
  }
};

/// `resize(n)` leaves new elements unset: whoever resizes writes all of them.
template <class T>
using RawVector = std::vector<T, RawAllocator<T>>;

}  // namespace tandem
