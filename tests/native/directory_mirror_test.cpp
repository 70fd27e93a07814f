// A mirror that follows a pool's events has the pool's hashes, and stays safe if events are
// repeated, late, missing or malicious.

#include "kvasir/directory_mirror.hpp"

#include <set>
#include <vector>

#include "check.hpp"
#include "kvasir/block_pool.hpp"

namespace kvasir {
namespace {

constexpr uint32_t kBlocks = 90;
constexpr uint32_t kEvents = 64;

std::multiset<uint64_t> names_of(const Directory& directory) {
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

// A pool with its ring in memory of the test, and requests that come and go.
class SharedPool {
 public:
  explicit SharedPool(uint64_t seed)
      : random_(seed),
        memory_(event_ring_bytes(kShape) / sizeof(EventRingHead) + 1),
        pool_(kShape, {&page_, memory_.data()}) {}

  void step() {
    const uint32_t choice = random_.below(200);
    if (choice == 0) {
      pool_.clear();
    } else if (choice < 100 || leases_.empty()) {
      lease();
    } else {
      const size_t leaving = random_.below(static_cast<uint32_t>(leases_.size()));
      CHECK(pool_.release(&leases_[leaving], 1).error == PoolError::kNone);
      leases_.erase(leases_.begin() + static_cast<std::ptrdiff_t>(leaving));
    }
  }

  const EventRingHead* ring() const { return memory_.data(); }
  const Directory& directory() const { return pool_.directory(); }
  uint64_t evicted() const { return read_occupancy(page_).evicted_blocks; }

 private:
  static constexpr PoolShape kShape{kBlocks, 1, 6, 20, kEvents};

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
  std::vector<EventRingHead> memory_;
  OccupancyPage page_{};
  BlockPool pool_;
  std::vector<int32_t> leases_;
};

// Follows at random distances; sometimes too late, and then takes a snapshot or waits for clear.
void follows_a_pool() {
  uint64_t gaps = 0;
  uint64_t followed = 0;
  uint64_t cleared = 0;
  uint64_t evicted = 0;
  for (g_seed = 1; g_seed <= 20; g_seed++) {
    TestRandom random(g_seed);
    SharedPool pool(g_seed * 31);
    DirectoryMirror mirror(kBlocks);
    for (int round = 0; round < 300; round++) {
      for (uint32_t steps = random.below(random.below(10) == 0 ? 30 : 4); steps > 0; steps--) {
        pool.step();
      }
      const bool knew = mirror.state().known != 0;
      mirror.follow(pool.ring(), kEvents);
      CHECK(mirror.state().next_event == pool.ring()->next_event);
      CHECK(mirror.state().names == names_of(mirror.view()).size());
      if (mirror.state().known == 0) {
        CHECK(mirror.state().names == 0);
        if (random.below(2) == 0) {
          CHECK(mirror.replace(pool.directory().buckets, pool.ring()->next_event));
          CHECK(mirror.state().known == 1);
        }
      } else {
        cleared += knew ? 0 : 1;
      }
      if (mirror.state().known != 0) {
        CHECK(names_of(mirror.view()) == names_of(pool.directory()));
        followed++;
      }
    }
    gaps += mirror.state().gaps;
    evicted += pool.evicted();
  }
  CHECK(gaps > 0 && followed > 0 && cleared > 0 && evicted > 0);
}

BlockEvent stored(uint64_t sequence, uint64_t hash) {
  return {sequence, hash, 0, BlockEventKind::kStored, 0};
}

BlockEvent removed(uint64_t sequence, uint64_t hash) {
  return {sequence, hash, 0, BlockEventKind::kRemoved, 0};
}

void is_idempotent() {
  DirectoryMirror mirror(kBlocks);
  const uint64_t ahead[] = {7, 8};
  mirror.add(ahead, 2);
  const BlockEvent events[] = {stored(0, 7), stored(1, 8), stored(2, 9), removed(3, 8),
                               removed(4, 8)};
  mirror.apply(events, 5);
  CHECK(mirror.state().ignored == 3);
  mirror.apply(events, 5);
  CHECK(mirror.state().ignored == 8);
  CHECK((names_of(mirror.view()) == std::multiset<uint64_t>{7, 9}));
  CHECK(mirror.state().gaps == 0 && mirror.state().next_event == 5);
}

void knows_nothing_behind_a_gap() {
  DirectoryMirror mirror(kBlocks);
  const BlockEvent events[] = {stored(0, 7), stored(2, 9), stored(3, 10)};
  mirror.apply(events, 3);
  CHECK(mirror.state().known == 0 && mirror.state().gaps == 1 && mirror.state().next_event == 4);
  const uint64_t ahead = 11;
  mirror.add(&ahead, 1);
  CHECK(names_of(mirror.view()).empty());
  const BlockEvent cleared{4, 0, 0, BlockEventKind::kCleared, 0};
  const BlockEvent after = stored(5, 12);
  mirror.apply(&cleared, 1);
  mirror.apply(&after, 1);
  CHECK(mirror.state().known == 1);
  CHECK((names_of(mirror.view()) == std::multiset<uint64_t>{12}));
}

void holds_no_more_than_the_pool() {
  DirectoryMirror mirror(kBlocks);
  for (uint64_t i = 0; i < 10000; i++) {
    const BlockEvent event = stored(i, i + 1);
    mirror.apply(&event, 1);
  }
  CHECK(mirror.state().names == kBlocks && mirror.state().ignored == 10000 - kBlocks);
}

// Arbitrary buckets are either refused, or accepted and usable.
void survives_any_snapshot() {
  const uint64_t count = directory_buckets(kBlocks);
  for (g_seed = 1; g_seed <= 200; g_seed++) {
    TestRandom random(g_seed);
    DirectoryMirror mirror(kBlocks);
    std::vector<Bucket> buckets(count);
    const uint32_t density = 1 + random.below(8);
    for (Bucket& bucket : buckets) {
      for (uint64_t& key : bucket.keys) {
        key = random.below(density) == 0 ? random.below(50) : 0;
      }
      bucket.passed = random.below(2) == 0 ? random.next() : 0;
    }
    const bool taken = mirror.replace(buckets.data(), 100);
    CHECK(taken == (mirror.state().known != 0));
    CHECK(names_of(mirror.view()).size() == mirror.state().names);
    for (uint64_t i = 0; i < 500; i++) {
      const uint64_t hash = random.below(60);
      const BlockEvent event =
          random.below(2) == 0 ? stored(100 + i, hash) : removed(100 + i, hash);
      mirror.apply(&event, 1);
    }
    CHECK(mirror.state().names <= kBlocks);
  }
}

}  // namespace
}  // namespace kvasir

int main() {
  using namespace kvasir;
  follows_a_pool();
  g_seed = 0;
  is_idempotent();
  knows_nothing_behind_a_gap();
  holds_no_more_than_the_pool();
  survives_any_snapshot();
  std::puts("directory_mirror_test: ok");
  return 0;
}
