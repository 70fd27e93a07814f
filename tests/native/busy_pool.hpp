// A pool whose ring is in memory of a test's, for tests of those who follow it.
#pragma once

#include <set>
#include <vector>

#include "check.hpp"
#include "kvasir/block_pool.hpp"

namespace kvasir {

inline std::multiset<uint64_t> names_of(const Directory& directory) {
  std::multiset<uint64_t> names;
  for (uint64_t bucket = 0; bucket < directory.bucket_count; bucket++) {
    for (uint64_t key : directory.buckets[bucket].keys) {
      if (key != 0) {
        names.insert(key);
      }
    }
  }
  return names;
}

// A pool with requests that come and go.
class BusyPool {
 public:
  static constexpr uint32_t kBlocks = 90;

  BusyPool(uint64_t seed, uint32_t event_capacity)
      : random_(seed), pool_(PoolShape{kBlocks, 1, 6, 20, event_capacity}) {}

  void clear() { pool_.clear(); }

  void step() {
    const uint32_t choice = random_.below(200);
    if (choice == 0) {
      clear();
    } else if (choice < 100 || leases_.empty()) {
      lease();
    } else {
      const size_t leaving = random_.below(static_cast<uint32_t>(leases_.size()));
      CHECK(pool_.release(&leases_[leaving], 1).error == PoolError::kNone);
      leases_.erase(leases_.begin() + static_cast<std::ptrdiff_t>(leaving));
    }
  }

  const EventRingHead* ring() const { return pool_.events().head(); }
  const Directory& directory() const { return pool_.directory(); }
  uint64_t evicted() const { return read_occupancy(pool_.page()).evicted_blocks; }

 private:
  void lease() {
    const uint64_t family = random_.below(12);
    const uint32_t blocks = 1 + random_.below(20);
    std::vector<uint32_t> tokens(blocks);
    std::vector<uint64_t> hashes(blocks);
    for (uint32_t i = 0; i < blocks; i++) {
      tokens[i] = static_cast<uint32_t>(family);
      hashes[i] = TestRandom(family * 100 + i).next();
    }
    LeaseRequest request{tokens.data(), hashes.data(), 0, 0, 0, blocks, blocks, 0, 0, 0, 0};
    CHECK(pool_.lease(&request, 1).error == PoolError::kNone);
    if (request.lease == kRefused) {
      return;
    }
    leases_.push_back(request.lease);
    const uint32_t from = request.matched_blocks;
    const CommitRequest commit{
        tokens.data() + from, hashes.data() + from, request.lease, from, blocks, 0};
    CHECK(pool_.commit(&commit, 1).error == PoolError::kNone);
  }

  TestRandom random_;
  BlockPool pool_;
  std::vector<int32_t> leases_;
};

}  // namespace kvasir
