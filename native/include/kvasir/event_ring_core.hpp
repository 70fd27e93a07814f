// The event ring: changes of a pool, written by its owner (one thread, or kernels on one stream)
// and read by the host.
//
// Layout. A head, then `capacity` slots; event n is in slot n modulo the capacity. `next_event` is
// the number after the newest event of the last complete operation. The `capacity` events before it
// are kept; a reader that is further behind has lost events for good.
//
// A running operation overwrites the oldest slots. Before its first write it stores `reserved_end`,
// an upper bound of the numbers it writes. On completion it stores `next_event` and lowers
// `reserved_end` to the same value. A reader loads `next_event`, copies, and then loads
// `reserved_end`: a copy numbered below `reserved_end` - `capacity` may be torn and is discarded.
// Its event is not necessarily lost, because the bound may be loose, so the reader tries again
// later.
//
// Order, on the host. Words of slots are stored with release and loaded with acquire. A reader that
// loads a word of event m therefore sees, in its next load, the `reserved_end` stored before that
// word or a later one. Each of these is above m: the operation's own bound is, and later values are
// at least the `next_event` of an operation that has written m. If a copy of event m - `capacity`
// contains any word of event m, it is therefore discarded. `next_event` is stored with release
// after the words that it covers.
//
// Order, on a device. Slots and head are in host memory that kernels write with volatile stores,
// which are relaxed stores of system scope. One thread stores `reserved_end`, in an earlier launch,
// before a barrier, or before it writes events itself. Each thread that writes events executes a
// system-scope fence before its first: fence and store together form a release that also covers
// what was ordered before the fence. `next_event` is stored after such a fence by a following
// launch or after a barrier.
#pragma once

#include "kvasir/pool_batch.hpp"

namespace kvasir {

struct alignas(64) EventRingHead {
  uint64_t next_event;
  uint64_t reserved_end;
};

// A BlockEvent as words that are stored and loaded atomically. All hosts and devices are
// little-endian.
struct EventSlot {
  uint64_t words[4];
};
static_assert(sizeof(EventSlot) == sizeof(BlockEvent), "a slot is an event");

KVASIR_HD uint64_t event_ring_bytes(const PoolShape& shape) {
  return sizeof(EventRingHead) + uint64_t{shape.event_capacity} * sizeof(EventSlot);
}

KVASIR_HD EventSlot* event_slots(EventRingHead* head) {
  return reinterpret_cast<EventSlot*>(head + 1);
}

KVASIR_HD const EventSlot* event_slots(const EventRingHead* head) {
  return reinterpret_cast<const EventSlot*>(head + 1);
}

KVASIR_HD EventSlot pack_event(const BlockEvent& event) {
  return {{event.sequence, event.hash, event.parent_hash,
           static_cast<uint64_t>(event.depth) << 32 | static_cast<uint32_t>(event.kind)}};
}

inline void write_event(EventSlot& slot, const BlockEvent& event) {
  const EventSlot packed = pack_event(event);
  for (uint32_t i = 0; i < 4; i++) {
    __atomic_store_n(&slot.words[i], packed.words[i], __ATOMIC_RELEASE);
  }
}

inline BlockEvent read_event(const EventSlot& slot) {
  uint64_t words[4];
  for (uint32_t i = 0; i < 4; i++) {
    words[i] = __atomic_load_n(&slot.words[i], __ATOMIC_ACQUIRE);
  }
  return {words[0], words[1], words[2],
          static_cast<BlockEventKind>(static_cast<uint32_t>(words[3] & 0xffffffffu)),
          static_cast<uint32_t>(words[3] >> 32)};
}

// Copies up to `count` events from number *from on and returns how many; advances *from past them.
// If *from is older than the kept events, it first jumps to the oldest kept event. Also returns 0
// if the oldest of them is about to be overwritten. O(count), never waits.
inline uint32_t read_events(const EventRingHead* head, uint32_t capacity, uint64_t* from,
                            BlockEvent* events, uint32_t count) {
  const uint64_t next = __atomic_load_n(&head->next_event, __ATOMIC_ACQUIRE);
  const uint64_t oldest = next > capacity ? next - capacity : 0;
  if (*from < oldest) {
    *from = oldest;
  }
  if (*from >= next) {
    return 0;
  }
  const uint32_t copied = next - *from < count ? static_cast<uint32_t>(next - *from) : count;
  const EventSlot* slots = event_slots(head);
  for (uint32_t i = 0; i < copied; i++) {
    events[i] = read_event(slots[(*from + i) % capacity]);
  }
  const uint64_t reserved = __atomic_load_n(&head->reserved_end, __ATOMIC_RELAXED);
  if (*from + capacity < reserved) {
    return 0;
  }
  *from += copied;
  return copied;
}

}  // namespace kvasir
