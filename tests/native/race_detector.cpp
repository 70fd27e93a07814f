#include "race_detector.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

extern "C" char __executable_start;

namespace race {
namespace {

constexpr uint64_t kWord = 4;
constexpr uint32_t kHost = ~uint32_t{0};  // no thread of a launch

using Clock = std::vector<uint32_t>;  // by thread of the launch

struct Thread {
  Clock now;
  Clock released;  // at the last fence
  Clock seen;      // by strong loads, for the next fence
};

struct Access {
  uint32_t thread;
  uint32_t time;
  bool writes;
  bool strong;
  uint64_t code;
};

void join(Clock& into, const Clock& other) {
  for (size_t i = 0; i < other.size(); i++) {
    into[i] = std::max(into[i], other[i]);
  }
}

uint64_t address_of(const void* memory) { return reinterpret_cast<uint64_t>(memory); }

class Detector {
 public:
  std::map<uint64_t, uint64_t> memory;  // address to bytes

  void begin(uint32_t threads) {
    cells_.clear();
    words_.clear();
    threads_.assign(threads, {Clock(threads), Clock(threads), Clock(threads)});
    for (uint32_t i = 0; i < threads; i++) {
      threads_[i].now[i] = 1;
    }
  }
  void end() { threads_.clear(); }
  void enter(uint32_t thread) { current_ = thread; }
  void leave() { current_ = kHost; }

  // The memory had another meaning before.
  void forget(const void* from, uint64_t bytes) {
    for (uint64_t cell = address_of(from) / kWord; cell * kWord < address_of(from) + bytes;
         cell++) {
      cells_.erase(cell);
    }
  }

  void barrier(uint32_t first, uint32_t count) {
    Clock joined(threads_.size());
    for (uint32_t i = first; i < first + count; i++) {
      join(joined, threads_[i].now);
    }
    for (uint32_t i = first; i < first + count; i++) {
      threads_[i].now = joined;
      threads_[i].now[i]++;
    }
  }

  void fence() {
    Thread& self = threads_[current_];
    join(self.now, self.seen);
    self.released = self.now;
    self.now[current_]++;
  }

  void load(const void* word) {
    const auto released = words_.find(address_of(word));
    if (released != words_.end()) {
      join(threads_[current_].seen, released->second);
    }
  }

  void store(const void* word, bool keeps) {
    Clock& released = words_[address_of(word)];
    if (!keeps || released.empty()) {
      released.assign(threads_.size(), 0);
    }
    join(released, threads_[current_].released);
  }

  bool watches(const void* address) const {
    if (current_ == kHost) {
      return false;
    }
    auto next = memory.upper_bound(address_of(address));
    if (next == memory.begin()) {
      return false;
    }
    --next;
    return address_of(address) < next->first + next->second;
  }

  void access(const void* address, uint64_t bytes, bool writes, bool strong, const void* code) {
    const Access now{current_, threads_[current_].now[current_], writes, strong,
                     address_of(code) - address_of(&__executable_start)};
    const uint64_t end = (address_of(address) + bytes + kWord - 1) / kWord;
    for (uint64_t cell = address_of(address) / kWord; cell < end; cell++) {
      access(cells_[cell], now);
    }
  }

  int take() {
    const auto races = std::exchange(races_, {});
    for (const auto& [before, now] : races) {
      std::fprintf(stderr, "race of code at 0x%llx and 0x%llx\n",
                   static_cast<unsigned long long>(before), static_cast<unsigned long long>(now));
    }
    return static_cast<int>(races.size());
  }

 private:
  void access(std::vector<Access>& cell, const Access& now) {
    const Clock& clock = threads_[now.thread].now;
    size_t kept = 0;
    for (const Access& before : cell) {
      const bool ordered = before.thread == now.thread || before.time <= clock[before.thread];
      const bool conflicts = (before.writes || now.writes) && !(before.strong && now.strong);
      if (!ordered && conflicts) {
        races_.emplace(before.code, now.code);
      }
      // What races with a covered access later also races with this one.
      const bool covered =
          ordered && (now.writes || !before.writes) && (before.strong || !now.strong);
      if (!covered) {
        cell[kept++] = before;
      }
    }
    cell.resize(kept);
    cell.push_back(now);
  }

  std::unordered_map<uint64_t, std::vector<Access>> cells_;
  std::unordered_map<uint64_t, Clock> words_;  // released by the writes of a strong word
  std::vector<Thread> threads_;                // of the current launch
  uint32_t current_ = kHost;
  std::set<std::pair<uint64_t, uint64_t>> races_;
};

Detector detector;

// Templates of the library may be shared with instrumented code, which calls back.
bool busy = false;

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
      detector.access(address, bytes, writes, false, code);
    }
  });
}

void strong_load(const void* word, uint64_t bytes, const void* code) {
  once([=] {
    if (detector.watches(word)) {
      detector.access(word, bytes, false, true, code);
      detector.load(word);
    }
  });
}

void strong_store(const void* word, uint64_t bytes, const void* code) {
  once([=] {
    if (detector.watches(word)) {
      detector.access(word, bytes, true, true, code);
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
      detector.access(word, bytes, true, true, code);
      detector.load(word);
      detector.store(word, true);
    }
  });
}

int take_races() { return detector.take(); }

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
