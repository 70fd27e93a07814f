// The block directory: sequence hash -> block, over plain arrays, shared by host and device.
//
// Layout. A bucket is one cache line: seven keys and `passed`, the number of keys that found this
// bucket full and live in a later one. A key's home is a multiplicative range reduction of its
// hash; it sits in the first bucket from there on that had room. Key 0 means empty.
//
// Concurrency: one writer (the rank's executor thread) and any number of probing readers. Entries
// never move, and every word is read and written whole. A reader starts at the home bucket and
// continues while `passed` is not zero. No false misses: consider a key that is present throughout
// a look-up. The writer incremented `passed` of every bucket before the key's own before it
// published the key, and decrements them only after erasing the key. The reader is ordered after
// the publication, so it finds none of them zero and reaches the key. No false hits: a key that is
// found was present at that moment. A key that is inserted or erased during the look-up may be
// reported either way. This is harmless, because a match is advisory: the lease matches again on
// the owner's thread. No word orders another word's payload for the reader, so relaxed loads
// suffice; the single writer publishes with release to keep its stores in order.
//
// Only the owner reads the block numbers next to the keys.
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

// Buckets for a capacity: on average at most four of seven keys are in use, so that few look-ups
// need a second line.
KVASIR_HD uint64_t directory_buckets(uint64_t capacity_blocks) { return capacity_blocks / 4 + 2; }

// 0 is the empty key; a hash of 0 is stored as another key, which is an ordinary collision.
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

KVASIR_HD void directory_prefetch(const Directory& directory, uint64_t hash) {
  prefetch(&directory.buckets[directory_home(directory, directory_key(hash))]);
}

// Whether a bucket holds a key. All slots are compared: the key's slot is unpredictable, so an
// early exit would cost more than it saves.
KVASIR_HD bool bucket_holds(const Bucket& line, uint64_t key) {
  const uint64_t* keys = line.keys;
  static_assert(kKeysPerBucket == 7, "written out");
  return (load_relaxed(&keys[0]) == key) | (load_relaxed(&keys[1]) == key) |
         (load_relaxed(&keys[2]) == key) | (load_relaxed(&keys[3]) == key) |
         (load_relaxed(&keys[4]) == key) | (load_relaxed(&keys[5]) == key) |
         (load_relaxed(&keys[6]) == key);
}

// Searches for the number of leading blocks of one prompt that a directory holds. A pool evicts the
// tail of a prefix before its head, so presence is monotone along a prompt. The first block is
// checked first, because most pools match nothing of most prompts; the rest is bisected.
//
// A step reads one bucket and prefetches the next, so that the cache misses of several interleaved
// searches overlap. O(log count) steps.
class PrefixSearch {
 public:
  // `count` is at least 1.
  KVASIR_HD void start(const Directory& directory, const uint64_t* hashes, uint32_t count) {
    directory_ = directory;
    hashes_ = hashes;
    held_ = 0;
    end_ = count;
    look_up(0);
  }

  // Takes a step; false if it was the last.
  KVASIR_HD bool advance() {
    const Bucket& line = directory_.buckets[bucket_];
    const bool found = bucket_holds(line, key_);
    if (!found & (load_relaxed(&line.passed) != 0)) {
      bucket_ = next_bucket(directory_, bucket_);
      if (bucket_ != directory_home(directory_, key_)) {  // otherwise every bucket was visited
        prefetch(&directory_.buckets[bucket_]);
        return true;
      }
    }
    held_ = found ? block_ + 1 : held_;
    end_ = found ? end_ : block_;
    if (held_ < end_) {
      look_up(held_ + (end_ - held_) / 2);
      return true;
    }
    return false;
  }

  KVASIR_HD uint32_t held_blocks() const { return held_; }

 private:
  KVASIR_HD void look_up(uint32_t block) {
    block_ = block;
    key_ = directory_key(hashes_[block]);
    bucket_ = directory_home(directory_, key_);
    prefetch(&directory_.buckets[bucket_]);
  }

  Directory directory_;
  const uint64_t* hashes_;
  uint64_t key_;
  uint64_t bucket_;  // where the next step looks
  uint32_t block_;   // whose key that is
  uint32_t held_;    // blocks below are held
  uint32_t end_;     // blocks from here on are not
};

}  // namespace kvasir
