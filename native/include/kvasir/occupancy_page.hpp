// The occupancy page: a pool's counts, written by its owner after each mutation and read by anyone.
//
// A sequence lock. The writer makes `sequence` odd, writes the counts, then makes it even. A reader
// retries if the sequence is odd or has changed after reading. The counts are stored with release
// and loaded with acquire: a reader that loads a count of a newer write therefore also sees the odd
// sequence stored before it, and retries. No fences are needed.
#pragma once

#include "kvasir/platform.hpp"

namespace kvasir {

struct Occupancy {
  uint64_t capacity_blocks;
  uint64_t free_blocks;
  uint64_t cached_blocks;
  uint64_t active_blocks;
  uint64_t reserved_blocks;
  uint64_t evicted_blocks;
  uint64_t oldest_evictable_tick;
  uint64_t tick;
};

constexpr uint32_t kOccupancyWords = 8;

// Mirrored by OccupancyPage.java: the sequence, then the counts in the order of Occupancy.
struct alignas(64) OccupancyPage {
  uint64_t sequence;
  uint64_t words[kOccupancyWords];
};

inline void write_occupancy(OccupancyPage& page, const Occupancy& occupancy) {
  const uint64_t words[kOccupancyWords] = {
      occupancy.capacity_blocks,       occupancy.free_blocks,
      occupancy.cached_blocks,         occupancy.active_blocks,
      occupancy.reserved_blocks,       occupancy.evicted_blocks,
      occupancy.oldest_evictable_tick, occupancy.tick};
  const uint64_t sequence = page.sequence & ~uint64_t{1};  // another process may have damaged it
  __atomic_store_n(&page.sequence, sequence + 1, __ATOMIC_RELAXED);
  for (uint32_t i = 0; i < kOccupancyWords; i++) {
    __atomic_store_n(&page.words[i], words[i], __ATOMIC_RELEASE);
  }
  __atomic_store_n(&page.sequence, sequence + 2, __ATOMIC_RELEASE);
}

inline Occupancy read_occupancy(const OccupancyPage& page) {
  uint64_t words[kOccupancyWords];
  for (;;) {
    const uint64_t before = __atomic_load_n(&page.sequence, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < kOccupancyWords; i++) {
      words[i] = __atomic_load_n(&page.words[i], __ATOMIC_ACQUIRE);
    }
    const uint64_t after = __atomic_load_n(&page.sequence, __ATOMIC_RELAXED);
    if (before == after && before % 2 == 0) {
      return {words[0], words[1], words[2], words[3], words[4], words[5], words[6], words[7]};
    }
  }
}

}  // namespace kvasir
