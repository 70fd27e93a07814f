// The names that a pool holds, as its events tell them: a directory for whoever cannot look into
// the pool's own, because it lies in another process or in device memory.
#pragma once

#include <vector>

#include "kvasir/block_directory.hpp"
#include "kvasir/event_ring_core.hpp"

namespace kvasir {

// Where a mirror stands. Mirrored by DirectoryMirror.java, in words.
struct MirrorState {
  uint64_t next_event;  // number of the event that it waits for
  uint64_t names;
  uint64_t known;    // 1: the names are the pool's as of next_event. 0: events were lost, no names
  uint64_t gaps;     // how often events were lost, or a ring was damaged
  uint64_t ignored;  // changes that were none, events told twice, names beyond the capacity
};

// It holds no more names than the pool has blocks, whatever it is told, so that its memory is fixed
// and no look-up runs on for ever. One writer; view() may be probed by anyone meanwhile.
class DirectoryMirror {
 public:
  explicit DirectoryMirror(uint32_t capacity_blocks);

  const Directory& view() const { return names_.view(); }
  const MirrorState& state() const { return state_; }

  // Events before the awaited one are ignored. A later one shows that some were lost: then nothing
  // is known until replace() or a `cleared` event.
  void apply(const BlockEvent* events, uint32_t count);

  // Applies new events of a ring, at most `event_capacity`. Names that were added and are not among
  // what is stored go again. The ring may hold any bytes: if its numbers go back, or a slot does
  // not hold the event that belongs there, nothing is known any more, as after lost events.
  void follow(const EventRingHead* ring, uint32_t event_capacity);

  // Names that the pool is about to have, in the order of the events that will say so.
  void add(const uint64_t* hashes, uint32_t count);

  // Takes the names of a directory of the same capacity, which were the pool's before event
  // `next_event`. Any bytes are safe; those that are no directory, or hold more names than blocks,
  // are refused with false, and nothing is known then.
  bool replace(const Bucket* buckets, uint64_t next_event);

 private:
  bool store(uint64_t hash);
  void confirm(uint64_t hash);
  void remove(uint64_t hash);
  void forget();
  void expect(uint64_t event);
  void lose(uint64_t next_event);

  const uint32_t capacity_blocks_;
  NameDirectory names_;
  MirrorState state_;
  std::vector<uint64_t> added_;  // and not confirmed by an event, but for the first `confirmed_`
  size_t confirmed_ = 0;
};

}  // namespace kvasir
