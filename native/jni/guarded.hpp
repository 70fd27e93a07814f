// The one place where C++ exceptions meet Java. A bridge that may throw runs inside guarded() and
// answers with a negative status, which NativeStatus.java turns into Java's exception of the same
// meaning. All other bridges are noexcept: they neither allocate nor throw.
#pragma once

#include <cstdint>
#include <new>
#include <stdexcept>
#include <type_traits>

namespace kvasir {

// Mirrored by NativeStatus.java. Results are at least 0; addresses of user space are too.
constexpr int64_t kBridgeOutOfMemory = -1;
constexpr int64_t kBridgeInvalid = -2;
constexpr int64_t kBridgeFailed = -3;

template <typename Call>
int64_t guarded(Call&& call) noexcept {
  try {
    if constexpr (std::is_void_v<decltype(call())>) {
      call();
      return 0;
    } else if constexpr (std::is_pointer_v<decltype(call())>) {
      return static_cast<int64_t>(reinterpret_cast<uintptr_t>(call()));
    } else {
      return static_cast<int64_t>(call());
    }
  } catch (const std::bad_alloc&) {
    return kBridgeOutOfMemory;
  } catch (const std::length_error&) {
    return kBridgeOutOfMemory;
  } catch (const std::invalid_argument&) {
    return kBridgeInvalid;
  } catch (...) {
    return kBridgeFailed;
  }
}

}  // namespace kvasir
