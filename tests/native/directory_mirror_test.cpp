// A mirror that follows a pool's events has the pool's hashes, and stays safe if events are
// repeated, late, missing or malicious.

#include "kvasir/directory_mirror.hpp"

#include <set>
#include <vector>

#include "busy_pool.hpp"
#include "check.hpp"

namespace kvasir {
namespace {

constexpr uint32_t kBlocks = BusyPool::kBlocks;
constexpr uint32_t kEvents = 64;

// Follows at random distances; sometimes too late, and then waits until the pool is cleared.
void follows_a_pool() {
  uint64_t gaps = 0;
  uint64_t followed = 0;
  uint64_t cleared = 0;
  uint64_t evicted = 0;
  for (g_seed = 1; g_seed <= 20; g_seed++) {
    TestRandom random(g_seed);
    BusyPool pool(g_seed * 31, kEvents);
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
          pool.clear();
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

// A ring in the test's memory with events of the right numbers, more than are copied at a time.
constexpr uint32_t kMany = 300;

struct TestRing {
  EventRingHead head{kMany, kMany};
  EventSlot slots[kMany] = {};

  TestRing() {
    for (uint64_t i = 0; i < kMany; i++) {
      write_event(slots[i], stored(i, i + 1));
    }
  }
};

void check_lost(const DirectoryMirror& mirror, uint64_t gaps) {
  CHECK(mirror.state().known == 0 && mirror.state().names == 0);
  CHECK(mirror.state().gaps == gaps && mirror.state().next_event <= ~uint64_t{0} >> 1);
}

// A head far ahead of the slots once made a reader copy the same slots for ever.
void returns_from_a_damaged_ring() {
  for (const uint64_t end : {uint64_t{1} << 40, ~uint64_t{0} >> 1, ~uint64_t{0}}) {
    TestRing ring;
    DirectoryMirror mirror(kBlocks);
    mirror.follow(&ring.head, kMany);
    CHECK(mirror.state().known == 1 && mirror.state().names == kBlocks);
    ring.head = {end, 0};
    mirror.follow(&ring.head, kMany);
    check_lost(mirror, 1);
  }
  TestRing ring;
  DirectoryMirror mirror(kBlocks);
  mirror.follow(&ring.head, kMany);
  ring.head = {5, 5};
  mirror.follow(&ring.head, kMany);
  check_lost(mirror, 1);
  CHECK(mirror.state().next_event == 5);

  for (uint32_t word : {0u, 3u}) {
    TestRing damaged;
    damaged.slots[7].words[word] ^= 64;  // the number, the kind
    DirectoryMirror reader(kBlocks);
    reader.follow(&damaged.head, kMany);
    check_lost(reader, 1);
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
  returns_from_a_damaged_ring();
  std::puts("directory_mirror_test: ok");
  return 0;
}
