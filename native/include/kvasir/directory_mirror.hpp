// A directory of a pool's sequence hashes, maintained from its events, for readers that cannot
// access the pool's own directory because it is in device memory.
#pragma once

#include <vector>

#include "kvasir/block_directory.hpp"
#include "kvasir/event_ring_core.hpp"

namespace kvasir {

// State of a mirror. Mirrored by DirectoryMirror.java, in words.
struct MirrorState {
  uint64_t next_event;  // number of the next expected event
  uint64_t names;
  uint64_t known;    // 1: equal to the pool as of next_event; 0: events were lost, empty
  uint64_t gaps;     // times that events were lost or a ring was damaged
  uint64_t ignored;  // redundant changes, repeated events, hashes beyond the capacity
};

// Never holds more hashes than the pool has blocks, regardless of its input, so that memory is
// fixed and every look-up terminates. One writer; any thread may probe view() concurrently.
class DirectoryMirror {
 public:
  explicit DirectoryMirror(uint32_t capacity_blocks);

  const Directory& view() const { return names_.view(); }
  const MirrorState& state() const { return state_; }

  // Events before the expected one are ignored. A later one shows that events were lost: the mirror
  // is then empty until a `cleared` event.
  void apply(const BlockEvent* events, uint32_t count);

  // Applies the new events of a ring, at most `event_capacity`. Hashes that were added, but are not
  // among the stored ones, are removed again. The ring may hold arbitrary bytes: if its numbers go
  // back, or a slot does not hold the expected event, this is treated as lost events.
  void follow(const EventRingHead* ring, uint32_t event_capacity);

  // Hashes that the pool is about to store, in the order of the corresponding events.
  void add(const uint64_t* hashes, uint32_t count);

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
