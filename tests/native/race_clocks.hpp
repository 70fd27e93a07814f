// The vector clocks behind race_detector.hpp, which says what orders two accesses.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace race {

constexpr uint64_t kWord = 4;
constexpr uint32_t kHost = ~uint32_t{0};  // no thread of a launch

using Clock = std::vector<uint32_t>;  // by thread of the launch
using Races = std::set<std::pair<uint64_t, uint64_t>>;

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

inline void join(Clock& into, const Clock& other) {
  for (size_t i = 0; i < other.size(); i++) {
    into[i] = std::max(into[i], other[i]);
  }
}

inline uint64_t address_of(const void* memory) { return reinterpret_cast<uint64_t>(memory); }

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

  void access(const void* address, uint64_t bytes, bool writes, bool strong, uint64_t code) {
    const Access now{current_, threads_[current_].now[current_], writes, strong, code};
    const uint64_t end = (address_of(address) + bytes + kWord - 1) / kWord;
    for (uint64_t cell = address_of(address) / kWord; cell < end; cell++) {
      access(cells_[cell], now);
    }
  }

  // The races since the last call: the codes of both accesses.
  Races take() { return std::exchange(races_, {}); }

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
  Races races_;
};

}  // namespace race
