// The writing side of an event ring in host memory. Confined to the pool's
// owner; event_ring_core.hpp describes concurrent readers.
#pragma once

#include "kvasir/event_ring_core.hpp"
#include "kvasir/zeroed_array.hpp"

namespace kvasir {

class EventRing {
 public:
  // An event capacity of 0 turns events off; they are still numbered.
  explicit EventRing(const PoolShape& shape)
      : capacity_(shape.event_capacity),
        memory_(event_ring_bytes(shape)),
        head_(reinterpret_cast<EventRingHead*>(memory_.data())) {
    publish();
  }

  // To be called before the first event of an operation that emits at most `count`.
  void reserve(uint64_t count) { store_relaxed(&head_->reserved_end, next_ + count); }

  void emit(BlockEventKind kind, uint64_t hash, uint64_t parent_hash, uint32_t depth) {
    if (capacity_ > 0) {
      write_event(event_slots(head_)[next_ % capacity_], {next_, hash, parent_hash, kind, depth});
    }
    next_++;
  }

  // To be called after an operation's last event.
  void publish() {
    __atomic_store_n(&head_->next_event, next_, __ATOMIC_RELEASE);
    __atomic_store_n(&head_->reserved_end, next_, __ATOMIC_RELEASE);
  }

  // Copies up to `count` of the oldest events that are published, still kept and not yet drained;
  // returns their number.
  uint32_t drain(BlockEvent* events, uint32_t count) {
    return read_events(head_, capacity_, &drained_, events, count);
  }

  // For concurrent readers.
  const EventRingHead* head() const { return head_; }

 private:
  const uint32_t capacity_;
  ZeroedArray<unsigned char> memory_;
  EventRingHead* const head_;
  uint64_t next_ = 0;
  uint64_t drained_ = 0;
};

}  // namespace kvasir
