// Compares the directory of a device pool, as copied to the host, with that of the CPU pool.
#pragma once

#include <set>
#include <vector>

#include "check.hpp"
#include "kvasir/device_pool_core.hpp"

namespace kvasir {

// The directories must have the same keys, with exact `passed` marks.
inline void check_same_directory(const DevicePool& pool, const Directory& other,
                                 uint32_t capacity_blocks) {
  const Directory& mine = pool.directory;
  std::multiset<uint64_t> keys[2];
  std::vector<uint64_t> passed(mine.bucket_count);
  for (uint64_t bucket = 0; bucket < mine.bucket_count; bucket++) {
    for (uint32_t slot = 0; slot < kKeysPerBucket; slot++) {
      const uint64_t key = mine.buckets[bucket].keys[slot];
      const uint32_t block = mine.blocks[bucket * 8 + slot];
      CHECK((key == 0) == (block == kNoBlock));
      if (key != 0) {
        CHECK(block < capacity_blocks && pool.names[block].hash == key);
        keys[0].insert(key);
        for (uint64_t at = directory_home(mine, key); at != bucket; at = next_bucket(mine, at)) {
          passed[at]++;
        }
      }
      const uint64_t theirs = other.buckets[bucket].keys[slot];
      if (theirs != 0) {
        keys[1].insert(theirs);
      }
    }
  }
  CHECK(keys[0] == keys[1]);
  for (uint64_t bucket = 0; bucket < mine.bucket_count; bucket++) {
    CHECK(mine.buckets[bucket].passed == passed[bucket]);
  }
}

}  // namespace kvasir
