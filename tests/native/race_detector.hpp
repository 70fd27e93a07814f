// Finds data races of kernels on the shim, by CUDA's memory model: two accesses by different
// threads of which at least one writes and at least one is weak must be ordered.
//
// Relaxed loads and stores and atomics are strong; the compiler reports all others, because the
// test is compiled, but not linked, with -fsanitize=thread, and race_detector.cpp has the functions
// that it then calls. Order (happens-before, with vector clocks) comes from:
//   - __syncthreads among the threads of a block, __syncwarp among those of a warp; other warp
//     primitives order nothing;
//   - a fence before a strong write, and a fence after a strong read that sees this write or a
//     later read-modify-write, each by the thread that accesses the word. A barrier before the
//     first fence, or after the second, extends the order to other threads of the block.
// Launches are ordered. Only memory that was added is watched. A race is found even if the accesses
// are far apart in this schedule. A strong load of a stale value is not a race and is not found.
#pragma once

#include <cstdint>

namespace race {

// Watches memory until it is removed.
void add_memory(const void* memory, uint64_t bytes);
void remove_memory(const void* memory);

// Called by the shim.
#if defined(KVASIR_RACE_DETECTOR)
void begin_launch(uint32_t threads);
void end_launch();
void enter_thread(uint32_t thread);  // number in the launch
void leave_thread();
void enter_block(const void* shared, uint64_t bytes);
void leave_block(const void* shared);
void barrier(uint32_t first_thread, uint32_t threads);
void fence();
void read_modify_write(const void* word, uint64_t bytes, const void* code);
#else
inline void begin_launch(uint32_t) {}
inline void end_launch() {}
inline void enter_thread(uint32_t) {}
inline void leave_thread() {}
inline void enter_block(const void*, uint64_t) {}
inline void leave_block(const void*) {}
inline void barrier(uint32_t, uint32_t) {}
inline void fence() {}
inline void read_modify_write(const void*, uint64_t, const void*) {}
#endif

// Prints the races found since the last call, as code offsets for addr2line, and returns their
// number.
int take_races();

}  // namespace race
