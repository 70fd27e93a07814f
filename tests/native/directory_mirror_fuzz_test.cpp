// Mirrors that follow damaged rings: every call returns soon, stays within its memory and leaves a
// directory that is in order; an undamaged ring of a cleared pool repairs the mirror.

#include <cstring>
#include <memory>
#include <vector>

#include "busy_pool.hpp"
#include "check.hpp"
#include "fuzz.hpp"
#include "kvasir/directory_mirror.hpp"

namespace kvasir {
namespace {

constexpr uint32_t kBlocks = BusyPool::kBlocks;
constexpr uint32_t kEvents = 300;  // more than are copied at a time

// Words in memory of exactly their size, so that the address sanitizer sees every step beyond.
class Words {
 public:
  Words(const void* from, size_t bytes)
      : count_(bytes / sizeof(uint64_t)),
        words_(static_cast<uint64_t*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64)), std::free) {
    std::memcpy(words_.get(), from, bytes);
  }

  void damage(TestRandom& random) {
    for (uint32_t times = random.below(4); times > 0; times--) {
      uint64_t& word = words_.get()[random.below(static_cast<uint32_t>(count_))];
      word = odd_word(random, word);
    }
    if (random.below(10) == 0) {
      const size_t from = random.below(static_cast<uint32_t>(count_));
      for (size_t i = from; i < count_; i++) {
        words_.get()[i] = random.next();
      }
    }
    if (random.below(3) == 0) {  // in a ring, the head
      words_.get()[0] = odd_word(random, words_.get()[0]);
      words_.get()[1] = odd_word(random, words_.get()[1]);
    }
  }

  // Events of the right numbers around the head's, so that more than the first is looked at.
  void number_events(TestRandom& random) {
    EventRingHead* head = reinterpret_cast<EventRingHead*>(words_.get());
    head->reserved_end = head->next_event;
    for (uint64_t i = 0; i < kEvents; i++) {
      const uint64_t number = head->next_event - 1 - i;
      write_event(event_slots(head)[number % kEvents],
                  {number, random.below(300), 0, static_cast<BlockEventKind>(random.below(50) / 24),
                   random.below(9)});
    }
  }

  template <typename T>
  const T* as() const {
    return reinterpret_cast<const T*>(words_.get());
  }

 private:
  size_t count_;
  std::unique_ptr<uint64_t, void (*)(void*)> words_;
};

// Each key is where its look-up finds it, and is counted in each bucket that it passes.
void check_in_order(const Directory& directory) {
  std::vector<uint64_t> passed(directory.bucket_count, 0);
  for (uint64_t bucket = 0; bucket < directory.bucket_count; bucket++) {
    for (uint64_t key : directory.buckets[bucket].keys) {
      for (uint64_t at = directory_home(directory, key); key != 0 && at != bucket;
           at = next_bucket(directory, at)) {
        passed[at]++;
      }
    }
  }
  for (uint64_t bucket = 0; bucket < directory.bucket_count; bucket++) {
    CHECK(directory.buckets[bucket].passed == passed[bucket]);
  }
}

void check_state(const DirectoryMirror& mirror, TestRandom& random) {
  const MirrorState& state = mirror.state();
  CHECK(state.known <= 1 && state.names <= kBlocks && (state.known == 1 || state.names == 0));
  CHECK(names_of(mirror.view()).size() == state.names);
  check_in_order(mirror.view());
  uint64_t prompt[16];
  for (uint64_t& hash : prompt) {
    hash = random.below(300);
  }
  const Directory* directory = &mirror.view();
  const uint32_t offsets[] = {0, 16};
  uint32_t matched = 0;
  probe(&directory, 1, prompt, offsets, 1, &matched);
  CHECK(matched <= 16);
}

Words ring_of(const BusyPool& pool) {
  return Words(pool.ring(), sizeof(EventRingHead) + kEvents * sizeof(EventSlot));
}

// One pool, one mirror, and much damage. Returns how often the mirror lost events.
uint64_t damage_and_repair(uint64_t seed) {
  TestRandom random(seed);
  BusyPool pool(random.next(), kEvents);
  DirectoryMirror mirror(kBlocks);
  for (int round = 0; round < 40; round++) {
    alarm(patience_seconds());
    for (uint32_t steps = random.below(12); steps > 0; steps--) {
      pool.step();
    }
    Words ring = ring_of(pool);
    ring.damage(random);
    if (random.below(3) == 0) {
      ring.number_events(random);
    }
    mirror.follow(ring.as<EventRingHead>(), kEvents);
    check_state(mirror, random);
    if (random.below(4) == 0) {
      mirror.follow(pool.ring(), kEvents);  // expects the pool's next event again
      pool.clear();
      pool.step();
      mirror.follow(pool.ring(), kEvents);
      CHECK(mirror.state().known == 1 && names_of(mirror.view()) == names_of(pool.directory()));
      check_state(mirror, random);
    }
  }
  return mirror.state().gaps;
}

}  // namespace
}  // namespace kvasir

int main() { return kvasir::fuzz("directory_mirror_fuzz_test", kvasir::damage_and_repair); }
