// The block directory: sequence hash -> block, over plain arrays, shared by host and device.
//
// Layout. A bucket is one cache line: seven keys and `passed`, the number of keys that found this
// bucket full and live in a later one. A key's home is a multiplicative range reduction of its
// hash; it sits in the first bucket from there on that had room. Key 0 means empty.
//
// Concurrency: one writer (the rank's executor thread), any number of readers that probe. An entry
// never moves, and every word is read and written whole. A reader looks at its home bucket and goes
// on while `passed` is not zero. Take a key that is in the directory during the whole of a look-up:
// the writer raised `passed` of every bucket before the key's own before it published the key, and
// lowers them only after it has erased the key, so the reader, who is ordered after the
// publication, finds none of them zero and reaches the key: no false miss. A key it finds was there
// at that moment: no false hit. A key that comes or goes meanwhile may be reported either way,
// which is harmless, because a match is advisory: the lease matches again on the owner's thread. No
// word orders another's payload for the reader, so relaxed loads suffice; the single writer
// publishes with release so that the order of its stores is kept.
//
// Block numbers beside the keys are read by the owner alone.
#pragma once

#include "kvasir/platform.hpp"

namespace kvasir {

constexpr uint32_t kNoBlock = 0xffffffffu;
constexpr uint32_t kKeysPerBucket = 7;

struct alignas(64) Bucket {
  uint64_t keys[kKeysPerBucket];
  uint64_t passed;
};

struct Directory {
  Bucket* buckets;
  uint32_t* blocks;  // 8 per bucket, the last unused
  uint64_t bucket_count;
};

// Buckets for a capacity: at most five of seven keys in use on average.
KVASIR_HD uint64_t directory_buckets(uint64_t capacity_blocks) { return capacity_blocks / 5 + 2; }

// 0 is the empty key; the one hash it takes away shares the name of another, as any collision does.
KVASIR_HD uint64_t directory_key(uint64_t hash) { return hash != 0 ? hash : 0x9e3779b97f4a7c15ull; }

KVASIR_HD uint64_t multiply_high(uint64_t a, uint64_t b) {
#if defined(__CUDA_ARCH__)
  return __umul64hi(a, b);
#else
  __extension__ typedef unsigned __int128 uint128;
  return static_cast<uint64_t>((static_cast<uint128>(a) * b) >> 64);
#endif
}

KVASIR_HD uint64_t directory_home(const Directory& directory, uint64_t key) {
  return multiply_high(key * 0x9e3779b97f4a7c15ull, directory.bucket_count);
}

KVASIR_HD uint64_t next_bucket(const Directory& directory, uint64_t bucket) {
  return bucket + 1 == directory.bucket_count ? 0 : bucket + 1;
}

// Position of a key, bucket * 8 + slot, or -1. Readers and the owner; O(1) expected.
KVASIR_HD int64_t directory_find(const Directory& directory, uint64_t hash) {
  const uint64_t key = directory_key(hash);
  uint64_t bucket = directory_home(directory, key);
  for (uint64_t visited = 0; visited < directory.bucket_count; visited++) {
    const Bucket& line = directory.buckets[bucket];
    for (uint32_t slot = 0; slot < kKeysPerBucket; slot++) {
      if (load_relaxed(&line.keys[slot]) == key) {
        return static_cast<int64_t>(bucket * 8 + slot);
      }
    }
    if (load_relaxed(&line.passed) == 0) {
      return -1;
    }
    bucket = next_bucket(directory, bucket);
  }
  return -1;
}

KVASIR_HD bool directory_contains(const Directory& directory, uint64_t hash) {
  return directory_find(directory, hash) >= 0;
}

KVASIR_HD void directory_prefetch(const Directory& directory, uint64_t hash) {
  prefetch(&directory.buckets[directory_home(directory, directory_key(hash))]);
}

// Number of leading blocks held. A pool gives up the tail of a prefix before its head, so presence
// is monotone along a prompt and bisection is exact. O(log count).
KVASIR_HD uint32_t directory_matched_blocks(const Directory& directory, const uint64_t* hashes,
                                            uint32_t count) {
  uint32_t held = 0;
  uint32_t end = count;
  while (held < end) {
    const uint32_t middle = held + (end - held) / 2;
    if (directory_contains(directory, hashes[middle])) {
      held = middle + 1;
    } else {
      end = middle;
    }
  }
  return held;
}

}  // namespace kvasir
