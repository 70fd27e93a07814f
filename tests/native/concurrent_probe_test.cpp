// Probes, page reads and event reads concurrent with a mutating owner. Each claim has a negative
// control: the same test over a structure without the mechanism must fail, otherwise the test
// proves nothing.

#include <atomic>
#include <thread>
#include <vector>

#include "check.hpp"
#include "kvasir/block_pool.hpp"

namespace kvasir {
namespace {

constexpr uint32_t kResident = 64;
constexpr uint32_t kTokensPerBlock = 1;
constexpr uint32_t kEvents = 1024;
constexpr PoolShape kShape{512, kTokensPerBlock, 8, 512, kEvents};

// Inverse of an odd number modulo 2^64: each round of Newton's iteration doubles the bits.
constexpr uint64_t inverse(uint64_t odd) {
  uint64_t x = odd;
  for (int round = 0; round < 5; round++) {
    x *= 2 - odd * x;
  }
  return x;
}

// Hashes that share five home buckets, so that keys overflow and `passed` matters: the directory
// multiplies by this constant and takes the upper bits.
uint64_t crowded_hash(uint64_t i) {
  return ((i % 5) << 61 | (i + 1)) * inverse(0x9e3779b97f4a7c15ull);
}

// Leases, commits and evicts blocks of a small pool for a while, with one prompt held throughout.
class ChurningPool {
 public:
  ChurningPool() : pool_(kShape) {
    for (uint64_t i = 0; i < kResident; i++) {
      resident_.push_back(crowded_hash(i));
      tokens_.push_back(static_cast<uint32_t>(i));
    }
    hold(resident_, tokens_);
  }

  int32_t hold(const std::vector<uint64_t>& hashes, const std::vector<uint32_t>& tokens) {
    const uint32_t blocks = static_cast<uint32_t>(hashes.size());
    LeaseRequest request{tokens.data(), hashes.data(), 0, 0, 0, 0, blocks, 0, 0, 0, 0};
    CHECK(pool_.lease(&request, 1).error == PoolError::kNone && request.lease != kRefused);
    const CommitRequest commit{tokens.data(), hashes.data(), request.lease, 0, blocks, 0};
    CHECK(pool_.commit(&commit, 1).error == PoolError::kNone);
    return request.lease;
  }

  void churn(uint64_t round) {
    std::vector<uint64_t> hashes;
    std::vector<uint32_t> tokens;
    for (uint64_t i = 0; i < 300; i++) {
      hashes.push_back(crowded_hash(1000 + round * 300 + i));
      tokens.push_back(static_cast<uint32_t>(i));
    }
    const int32_t lease = hold(hashes, tokens);
    CHECK(pool_.release(&lease, 1).error == PoolError::kNone);
  }

  // Number of residents outside their home bucket, which are found only through `passed`.
  uint32_t displaced() const {
    uint32_t count = 0;
    for (uint64_t hash : resident_) {
      const uint64_t bucket = static_cast<uint64_t>(directory_find(pool_.directory(), hash)) / 8;
      count += bucket != directory_home(pool_.directory(), directory_key(hash)) ? 1 : 0;
    }
    return count;
  }

  uint32_t matched() const {
    const Directory* directory = &pool_.directory();
    const uint32_t offsets[] = {0, kResident};
    uint32_t matched = 0;
    probe(&directory, 1, resident_.data(), offsets, 1, &matched);
    return matched;
  }

  const OccupancyPage& page() const { return pool_.page(); }
  const EventRingHead* ring() const { return pool_.events().head(); }

 private:
  BlockPool pool_;
  std::vector<uint64_t> resident_;
  std::vector<uint32_t> tokens_;
};

// The control: linear probing with tombstones, which rebuilds the table in place, like
// single-threaded tables.
class RebuildingTable {
 public:
  RebuildingTable() : keys_(1024) { insert_residents(); }
  void churn(uint64_t round) {
    for (uint64_t i = 0; i < 300; i++) {
      insert(crowded_hash(1000 + round * 300 + i));
    }
    for (std::atomic<uint64_t>& key : keys_) {
      key.store(0, std::memory_order_relaxed);
    }
    insert_residents();
  }
  uint32_t matched() const {
    uint32_t matched = 0;
    while (matched < kResident && contains(crowded_hash(matched))) {
      matched++;
    }
    return matched;
  }

 private:
  void insert_residents() {
    for (uint64_t i = 0; i < kResident; i++) {
      insert(crowded_hash(i));
    }
  }
  size_t home(uint64_t key) const { return multiply_high(key * 0x9e3779b97f4a7c15ull, 1024); }
  bool contains(uint64_t key) const {
    for (size_t i = home(key);; i = (i + 1) % keys_.size()) {
      const uint64_t found = keys_[i].load(std::memory_order_relaxed);
      if (found == key || found == 0) {
        return found == key;
      }
    }
  }
  void insert(uint64_t key) {
    size_t i = home(key);
    while (keys_[i].load(std::memory_order_relaxed) != 0) {
      i = (i + 1) % keys_.size();
    }
    keys_[i].store(key, std::memory_order_relaxed);
  }
  std::vector<std::atomic<uint64_t>> keys_;
};

// Counts observations that violate the claim, until there are `enough` or `rounds` of churn are
// done.
template <typename Churn, typename Observe>
uint64_t violations(uint64_t rounds, uint64_t enough, Churn churn, Observe violated) {
  std::atomic<bool> done{false};
  std::atomic<uint64_t> seen{0};
  std::atomic<uint64_t> observations{0};
  std::thread reader([&] {
    while (!done.load(std::memory_order_relaxed)) {
      seen += violated() ? 1 : 0;
      observations++;
    }
  });
  // At least some observations, regardless of thread scheduling.
  for (uint64_t round = 0; (round < rounds || observations < 100) && seen < enough; round++) {
    churn(round);
  }
  done = true;
  reader.join();
  return seen;
}

// The control of the page: reads the same words without checking the sequence.
bool torn(const OccupancyPage& page) {
  uint64_t words[kOccupancyWords];
  for (uint32_t i = 0; i < kOccupancyWords; i++) {
    words[i] = __atomic_load_n(&page.words[i], __ATOMIC_ACQUIRE);
  }
  return words[0] != words[1] + words[2] + words[3];
}

// Whether a read of the ring's kept events, from any position, returned an event under a wrong
// number.
bool wrong_events(const EventRingHead* ring, uint64_t* attempts) {
  BlockEvent events[kEvents];
  const uint64_t next = __atomic_load_n(&ring->next_event, __ATOMIC_RELAXED);
  uint64_t from = next < kEvents ? 0 : next - kEvents + *attempts * 97 % kEvents;
  ++*attempts;
  const uint32_t copied = read_events(ring, kEvents, &from, events, kEvents);
  bool wrong = false;
  for (uint32_t i = 0; i < copied; i++) {
    wrong |= events[i].sequence != from - copied + i;
  }
  return wrong;
}

}  // namespace
}  // namespace kvasir

int main() {
  using namespace kvasir;
  {
    ChurningPool pool;
    CHECK(pool.displaced() > kResident / 4);
    CHECK(violations(
              1000, 1, [&](uint64_t round) { pool.churn(round); },
              [&] { return pool.matched() != kResident; }) == 0);
    CHECK(violations(
              1000, 1, [&](uint64_t round) { pool.churn(round); },
              [&] {
                const Occupancy o = read_occupancy(pool.page());
                return o.capacity_blocks != o.free_blocks + o.cached_blocks + o.active_blocks;
              }) == 0);
    uint64_t attempts = 0;
    CHECK(violations(
              1000, 1, [&](uint64_t round) { pool.churn(round); },
              [&] { return wrong_events(pool.ring(), &attempts); }) == 0);
    CHECK(violations(
              100000000, 1, [&](uint64_t round) { pool.churn(round); },
              [&] { return torn(pool.page()); }) > 0);
  }
  {
    RebuildingTable table;
    CHECK(violations(
              100000000, 1, [&](uint64_t round) { table.churn(round); },
              [&] { return table.matched() != kResident; }) > 0);
  }
  std::puts("concurrent_probe_test: ok, both negative controls failed as they must");
  return 0;
}
