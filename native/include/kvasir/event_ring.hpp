// What changed in a pool, kept until somebody asks. When the ring is full the oldest events are
// lost, which the reader sees as a jump of the sequence number. Confined to the pool's owner.
#pragma once

#include "kvasir/pool_batch.hpp"
#include "kvasir/zeroed_array.hpp"

namespace kvasir {

class EventRing {
 public:
  // A capacity of 0 turns events off; they are still numbered.
  explicit EventRing(uint32_t capacity) : capacity_(capacity), events_(capacity) {}

  void emit(BlockEventKind kind, uint64_t hash, uint64_t parent_hash, uint32_t depth) {
    if (capacity_ > 0) {
      events_[next_ % capacity_] = {next_, hash, parent_hash, kind, depth};
    }
    next_++;
  }

  // Copies up to `count` of the oldest events that are still kept; returns how many.
  uint32_t drain(BlockEvent* events, uint32_t count) {
    if (next_ - drained_ > capacity_) {
      drained_ = next_ - capacity_;
    }
    uint32_t copied = 0;
    for (; copied < count && drained_ < next_; copied++, drained_++) {
      events[copied] = events_[drained_ % capacity_];
    }
    return copied;
  }

 private:
  const uint32_t capacity_;
  ZeroedArray<BlockEvent> events_;
  uint64_t next_ = 0;
  uint64_t drained_ = 0;
};

}  // namespace kvasir
