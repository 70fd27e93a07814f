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

BlockDirectory::BlockDirectory(uint64_t capacity_blocks)
    : names_(capacity_blocks),
      blocks_(directory_buckets(capacity_blocks) * 8),
      view_{names_.view().buckets, blocks_.data(), names_.view().bucket_count} {}

}  // namespace kvasir
