#include "kvasir/block_directory.hpp"

namespace kvasir {

NameDirectory::NameDirectory(uint64_t capacity_blocks)
    : buckets_(directory_buckets(capacity_blocks)),
      view_{buckets_.data(), nullptr, directory_buckets(capacity_blocks)} {}

uint64_t NameDirectory::insert(uint64_t hash) {
  const uint64_t key = directory_key(hash);
  for (uint64_t bucket = directory_home(view_, key);; bucket = next_bucket(view_, bucket)) {
    Bucket& line = buckets_[bucket];
    for (uint32_t slot = 0; slot < kKeysPerBucket; slot++) {
      if (line.keys[slot] == 0) {
        __atomic_store_n(&line.keys[slot], key, __ATOMIC_RELEASE);
        return bucket * 8 + slot;
      }
    }
    __atomic_store_n(&line.passed, line.passed + 1, __ATOMIC_RELEASE);
  }
}

void NameDirectory::erase(uint64_t hash, uint64_t position) {
  const uint64_t found = position / 8;
  __atomic_store_n(&buckets_[found].keys[position % 8], uint64_t{0}, __ATOMIC_RELEASE);
  for (uint64_t bucket = directory_home(view_, directory_key(hash)); bucket != found;
       bucket = next_bucket(view_, bucket)) {
    __atomic_store_n(&buckets_[bucket].passed, buckets_[bucket].passed - 1, __ATOMIC_RELEASE);
  }
}

// Writes only where there is something, so that pages that were never used stay unbacked.
void NameDirectory::clear() {
  for (uint64_t bucket = 0; bucket < view_.bucket_count; bucket++) {
    for (uint64_t& key : buckets_[bucket].keys) {
      if (key != 0) {
        store_relaxed(&key, uint64_t{0});
      }
    }
    if (buckets_[bucket].passed != 0) {
      store_relaxed(&buckets_[bucket].passed, uint64_t{0});
    }
  }
}

// The keys that pass a bucket are those that pass the one before it, and those at home in this one,
// less those that live in this one. The first bucket is behind the last.
uint64_t NameDirectory::copy(const Bucket* buckets) {
  for (uint64_t bucket = 0; bucket < view_.bucket_count; bucket++) {
    store_relaxed(&buckets_[bucket].passed, uint64_t{0});
  }
  uint64_t passing = 0;
  for (uint64_t bucket = 0; bucket < view_.bucket_count; bucket++) {
    for (uint32_t slot = 0; slot < kKeysPerBucket; slot++) {
      const uint64_t key = buckets[bucket].keys[slot];
      __atomic_store_n(&buckets_[bucket].keys[slot], key, __ATOMIC_RELEASE);
      if (key != 0) {
        const uint64_t home = directory_home(view_, key);
        store_relaxed(&buckets_[home].passed, buckets_[home].passed + 1);  // for now, those at home
        passing += home > bucket ? 1 : 0;
      }
    }
  }
  uint64_t names = 0;
  bool consistent = true;
  for (uint64_t bucket = 0; bucket < view_.bucket_count; bucket++) {
    uint64_t living = 0;
    for (uint64_t key : buckets[bucket].keys) {
      living += key != 0 ? 1 : 0;
    }
    passing += buckets_[bucket].passed - living;
    consistent &= passing == buckets[bucket].passed;
    __atomic_store_n(&buckets_[bucket].passed, passing, __ATOMIC_RELEASE);
    names += living;
  }
  return consistent ? names : kNotADirectory;
}

BlockDirectory::BlockDirectory(uint64_t capacity_blocks)
    : names_(capacity_blocks),
      blocks_(directory_buckets(capacity_blocks) * 8),
      view_{names_.view().buckets, blocks_.data(), names_.view().bucket_count} {}

}  // namespace kvasir
