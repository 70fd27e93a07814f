#include "race_detector.hpp"

#include <cstdio>

#include "race_clocks.hpp"

extern "C" char __executable_start;

namespace race {
namespace {

// Templates of the library may be shared with instrumented code, which calls back; without
// optimisation also while the detector is made.
bool busy = true;
Detector detector;
[[maybe_unused]] const bool made = !(busy = false);

uint64_t offset_of(const void* code) { return address_of(code) - address_of(&__executable_start); }

template <typename Body>
void once(Body body) {
  if (!busy) {
    busy = true;
    body();
    busy = false;
  }
}

void access(const void* address, uint64_t bytes, bool writes, const void* code) {
  once([=] {
    if (detector.watches(address)) {
      detector.access(address, bytes, writes, false, offset_of(code));
    }
  });
}

void strong_load(const void* word, uint64_t bytes, const void* code) {
  once([=] {
    if (detector.watches(word)) {
      detector.access(word, bytes, false, true, offset_of(code));
      detector.load(word);
    }
  });
}

void strong_store(const void* word, uint64_t bytes, const void* code) {
  once([=] {
    if (detector.watches(word)) {
      detector.access(word, bytes, true, true, offset_of(code));
      detector.store(word, false);
    }
  });
}

}  // namespace

void add_memory(const void* memory, uint64_t bytes) {
  once([=] { detector.memory[address_of(memory)] = bytes; });
}

void remove_memory(const void* memory) {
  once([=] { detector.memory.erase(address_of(memory)); });
}

void begin_launch(uint32_t threads) {
  once([=] { detector.begin(threads); });
}

void end_launch() {
  once([] { detector.end(); });
}

void enter_thread(uint32_t thread) { detector.enter(thread); }

void leave_thread() { detector.leave(); }

void enter_block(const void* shared, uint64_t bytes) {
  once([=] {
    detector.memory[address_of(shared)] = bytes;
    detector.forget(shared, bytes);
  });
}

void leave_block(const void* shared) { remove_memory(shared); }

void barrier(uint32_t first_thread, uint32_t threads) {
  once([=] { detector.barrier(first_thread, threads); });
}

void fence() {
  once([] { detector.fence(); });
}

void read_modify_write(const void* word, uint64_t bytes, const void* code) {
  once([=] {
    if (detector.watches(word)) {
      detector.access(word, bytes, true, true, offset_of(code));
      detector.load(word);
      detector.store(word, true);
    }
  });
}

int take_races() {
  const Races races = detector.take();
  for (const auto& [before, now] : races) {
    std::fprintf(stderr, "race of code at 0x%llx and 0x%llx\n",
                 static_cast<unsigned long long>(before), static_cast<unsigned long long>(now));
  }
  return static_cast<int>(races.size());
}

}  // namespace race

// ---- what -fsanitize=thread calls ---------------------------------------------------------------

#define ACCESS(name, bytes, writes)                                    \
  extern "C" void __tsan_##name(const void* address) {                 \
    race::access(address, bytes, writes, __builtin_return_address(0)); \
  }

ACCESS(read1, 1, false)
ACCESS(read2, 2, false)
ACCESS(read4, 4, false)
ACCESS(read8, 8, false)
ACCESS(read16, 16, false)
ACCESS(unaligned_read2, 2, false)
ACCESS(unaligned_read4, 4, false)
ACCESS(unaligned_read8, 8, false)
ACCESS(unaligned_read16, 16, false)
ACCESS(write1, 1, true)
ACCESS(write2, 2, true)
ACCESS(write4, 4, true)
ACCESS(write8, 8, true)
ACCESS(write16, 16, true)
ACCESS(unaligned_write2, 2, true)
ACCESS(unaligned_write4, 4, true)
ACCESS(unaligned_write8, 8, true)
ACCESS(unaligned_write16, 16, true)

extern "C" {
void __tsan_read_range(const void* address, uint64_t bytes) {
  race::access(address, bytes, false, __builtin_return_address(0));
}
void __tsan_write_range(const void* address, uint64_t bytes) {
  race::access(address, bytes, true, __builtin_return_address(0));
}
uint32_t __tsan_atomic32_load(const uint32_t* word, int) {
  race::strong_load(word, sizeof *word, __builtin_return_address(0));
  return *word;
}
uint64_t __tsan_atomic64_load(const uint64_t* word, int) {
  race::strong_load(word, sizeof *word, __builtin_return_address(0));
  return *word;
}
void __tsan_atomic32_store(uint32_t* word, uint32_t value, int) {
  race::strong_store(word, sizeof *word, __builtin_return_address(0));
  *word = value;
}
void __tsan_atomic64_store(uint64_t* word, uint64_t value, int) {
  race::strong_store(word, sizeof *word, __builtin_return_address(0));
  *word = value;
}
uint8_t __tsan_atomic8_load(const uint8_t* word, int) { return *word; }  // of static variables
void __tsan_atomic_thread_fence(int) {}                                  // of the host
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_init() {}
}
