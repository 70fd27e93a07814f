// Tracks active readers, so that a writer can determine when unlinked memory is unreachable.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace kvasir {

// A reader stores the current epoch in its own slot and clears the slot when it is done. The writer
// unlinks memory, advances the epoch, and may reuse the memory once safe() returns that every
// reader entered later. The two fences guarantee that either the writer sees the reader's slot or
// the reader does not see the unlinked memory.
//
// A reader never waits for the writer. It waits for a slot only while kSlots other readers are
// active.
class ReaderEpochs {
 public:
  static constexpr uint32_t kSlots = 256;

  class Guard {
   public:
    explicit Guard(ReaderEpochs* epochs) : slot_(epochs->enter()) {}
    ~Guard() { slot_->store(0, std::memory_order_release); }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    std::atomic<uint64_t>* slot_;
  };

  uint64_t current() const { return epoch_.load(std::memory_order_relaxed); }

  // Writer only. Returns the epoch that ended: everything unlinked before belongs to it.
  uint64_t advance() { return epoch_.fetch_add(1, std::memory_order_seq_cst); }

  // Writer only: the oldest epoch that a reader may still be in.
  uint64_t oldest() const {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    uint64_t oldest = current();
    const uint32_t used = used_.load(std::memory_order_acquire);
    for (uint32_t i = 0; i < used; ++i) {
      const uint64_t epoch = slots_[i].epoch.load(std::memory_order_acquire);
      if (epoch != 0 && epoch < oldest) oldest = epoch;
    }
    return oldest;
  }

 private:
  struct alignas(64) Slot {
    std::atomic<uint64_t> epoch{0};
  };

  std::atomic<uint64_t>* enter() {
    thread_local uint32_t hint = 0;
    for (;;) {
      for (uint32_t tried = 0; tried < kSlots; ++tried) {
        const uint32_t i = (hint + tried) % kSlots;
        uint64_t free = 0;
        // Sequentially consistent, like the fence: the slot is stored before any data is read.
        if (slots_[i].epoch.load(std::memory_order_relaxed) == 0 &&
            slots_[i].epoch.compare_exchange_strong(free, current(), std::memory_order_seq_cst)) {
          hint = i;
          uint32_t used = used_.load(std::memory_order_seq_cst);
          while (used <= i &&
                 !used_.compare_exchange_weak(used, i + 1, std::memory_order_seq_cst)) {
          }
          std::atomic_thread_fence(std::memory_order_seq_cst);
          return &slots_[i].epoch;
        }
      }
      std::this_thread::yield();
    }
  }

  std::atomic<uint64_t> epoch_{1};
  std::atomic<uint32_t> used_{0};  // slots from here on were never used
  Slot slots_[kSlots];
};

}  // namespace kvasir
