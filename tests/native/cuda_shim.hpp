// Runs CUDA kernels on the host: g++ compiles the kernels' sources unchanged, and every thread of a
// launch is a fiber of one host thread.
//
// A seeded scheduler selects the running fiber. It switches at every barrier and warp primitive,
// and at random before atomics and fences. A random number of thread blocks is resident at a time.
// A launch may prefer the fiber that became ready last, so that some warps run far ahead of others.
// Checked: all lanes of a warp reach the same primitive, all threads of a barrier arrive, and, with
// a sanitizer, memory; with race_detector.hpp, data races. Not checked: stale values of relaxed
// loads, which a device's weaker memory order allows.
//
// Supports only what the kernels use. Shared variables are declared with KVASIR_SHARED.
#pragma once

#include <cstring>

#include "fiber_scheduler.hpp"
#include "race_detector.hpp"

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)

namespace shim {

// Runs kernel(arguments...) on grid blocks of `threads` threads and waits for it.
template <typename Kernel, typename... Arguments>
void launch(Kernel kernel, uint32_t grid, uint32_t threads, Arguments... arguments) {
  Scheduler::get().run(
      threads, [=] { kernel(arguments...); }, grid, nullptr, 0);
}

// The same, concurrently with one more thread block that runs `other`, as on another stream.
template <typename Other, typename Kernel, typename... Arguments>
void launch_beside(Other other, Kernel kernel, uint32_t grid, uint32_t threads,
                   Arguments... arguments) {
  Scheduler::get().run(
      threads, [=] { kernel(arguments...); }, grid, other, 1);
}

template <typename T>
T& shared_variable() {
  return *static_cast<T*>(Scheduler::get().shared(sizeof(T)));
}

template <typename T>
T shuffle(T value, uint32_t from) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  const uint64_t taken = Scheduler::get().exchange(Primitive::kShuffle, bits)[from];
  std::memcpy(&value, &taken, sizeof(T));
  return value;
}

}  // namespace shim

#define KVASIR_SHARED(type, name) type& name = shim::shared_variable<type>()

inline void __syncthreads() { shim::Scheduler::get().block_barrier(); }
inline void __syncwarp() { shim::Scheduler::get().exchange(shim::Primitive::kWarpBarrier, 0); }
inline void __threadfence() {
  shim::Scheduler::get().may_switch(8);
  race::fence();
}
inline void __threadfence_system() {
  shim::Scheduler::get().may_switch(2);
  race::fence();
}

inline uint32_t __ballot_sync(uint32_t, bool asks) {
  const uint64_t* all = shim::Scheduler::get().exchange(shim::Primitive::kBallot, asks ? 1 : 0);
  uint32_t ballot = 0;
  for (uint32_t lane = 0; lane < 32; lane++) {
    ballot |= static_cast<uint32_t>(all[lane]) << lane;
  }
  return ballot;
}
inline bool __any_sync(uint32_t mask, bool asks) { return __ballot_sync(mask, asks) != 0; }
inline uint32_t __reduce_or_sync(uint32_t, uint32_t value) {
  const uint64_t* all = shim::Scheduler::get().exchange(shim::Primitive::kReduceOr, value);
  uint32_t united = 0;
  for (uint32_t lane = 0; lane < 32; lane++) {
    united |= static_cast<uint32_t>(all[lane]);
  }
  return united;
}
template <typename T>
T __shfl_sync(uint32_t, T value, int from) {
  return shim::shuffle(value, static_cast<uint32_t>(from) % 32);
}
template <typename T>
T __shfl_up_sync(uint32_t, T value, uint32_t step) {
  const uint32_t lane = shim::Scheduler::get().lane();
  return shim::shuffle(value, lane >= step ? lane - step : lane);
}
template <typename T>
T __shfl_xor_sync(uint32_t, T value, int mask) {
  return shim::shuffle(value, shim::Scheduler::get().lane() ^ static_cast<uint32_t>(mask));
}

// Not instrumented: the access is strong.
template <typename T, typename Change>
__attribute__((no_sanitize_thread)) T shim_atomic(T* word, Change change) {
  shim::Scheduler::get().may_switch(8);
  race::read_modify_write(word, sizeof *word, __builtin_return_address(0));
  const T old = *word;
  *word = change(old);
  return old;
}
template <typename T>
T atomicAdd(T* word, T value) {
  return shim_atomic(word, [=](T old) { return static_cast<T>(old + value); });
}
template <typename T>
T atomicSub(T* word, T value) {
  return shim_atomic(word, [=](T old) { return static_cast<T>(old - value); });
}
template <typename T>
T atomicMin(T* word, T value) {
  return shim_atomic(word, [=](T old) { return value < old ? value : old; });
}
template <typename T>
T atomicMax(T* word, T value) {
  return shim_atomic(word, [=](T old) { return value > old ? value : old; });
}
template <typename T>
T atomicCAS(T* word, T expected, T value) {
  return shim_atomic(word, [=](T old) { return old == expected ? value : old; });
}

inline int __popc(uint32_t word) { return __builtin_popcount(word); }
inline int __clz(int word) { return word == 0 ? 32 : __builtin_clz(static_cast<unsigned>(word)); }
inline int __clzll(long long word) {
  return word == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(word));
}
