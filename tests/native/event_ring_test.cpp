// Readers of an event ring concurrent with its writer: their events are intact, in order, and
// losses are reported. The negative control, a reader that ignores the reservation, gets wrong
// events.

#include "kvasir/event_ring.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include "check.hpp"

namespace kvasir {
namespace {

constexpr uint32_t kCapacity = 256;
constexpr uint32_t kMostPerOperation = 48;

uint64_t mixed(uint64_t x) { return TestRandom(x).next(); }

// Every field is a function of the number.
bool whole(const BlockEvent& event) {
  return event.hash == mixed(event.sequence) && event.parent_hash == ~event.hash &&
         event.depth == static_cast<uint32_t>(event.hash >> 7) &&
         event.kind == static_cast<BlockEventKind>(event.hash % 2);
}

class RingWriter {
 public:
  RingWriter() : ring_({1, 1, 1, 1, kCapacity}) {}

  // One operation; it may reserve more than it emits.
  void operate(TestRandom& random) {
    const uint32_t count = random.below(kMostPerOperation + 1);
    ring_.reserve(count + random.below(kMostPerOperation));
    for (uint32_t i = 0; i < count; i++, next_++) {
      const uint64_t hash = mixed(next_);
      ring_.emit(static_cast<BlockEventKind>(hash % 2), hash, ~hash,
                 static_cast<uint32_t>(hash >> 7));
    }
    ring_.publish();
  }

  const EventRingHead* head() const { return ring_.head(); }
  EventRing& ring() { return ring_; }
  uint64_t next() const { return next_; }

 private:
  EventRing ring_;
  uint64_t next_ = 0;
};

void reads_all_that_is_kept() {
  TestRandom random(1);
  RingWriter writer;
  BlockEvent events[kCapacity + 1];
  uint64_t slow = 0;
  for (int round = 0; round < 1000; round++) {
    writer.operate(random);
    uint64_t from = 0;
    const uint64_t kept = writer.next() < kCapacity ? writer.next() : kCapacity;
    CHECK(read_events(writer.head(), kCapacity, &from, events, kCapacity + 1) == kept);
    CHECK(from == writer.next());
    for (uint32_t i = 0; i < kept; i++) {
      CHECK(events[i].sequence == writer.next() - kept + i && whole(events[i]));
    }
    if (round % 7 == 0) {
      while (read_events(writer.head(), kCapacity, &slow, events, 5) > 0) {
        CHECK(slow + kCapacity >= writer.next());
      }
      CHECK(slow == writer.next());
    }
  }
}

// Events that are about to be overwritten are neither returned nor reported lost.
void waits_for_the_end_of_an_operation() {
  TestRandom random(2);
  RingWriter writer;
  while (writer.next() < kCapacity) {
    writer.operate(random);
  }
  BlockEvent events[kCapacity];
  const uint64_t oldest = writer.next() - kCapacity;
  uint64_t from = oldest;
  writer.ring().reserve(10);
  CHECK(read_events(writer.head(), kCapacity, &from, events, kCapacity) == 0 && from == oldest);
  from = oldest + 10;
  CHECK(read_events(writer.head(), kCapacity, &from, events, kCapacity) == kCapacity - 10);
  from = oldest;
  writer.ring().publish();
  CHECK(read_events(writer.head(), kCapacity, &from, events, kCapacity) == kCapacity);
}

// The control: a reader that ignores the reservation, while an operation has written some of the
// slots that it reads. In one thread, because no scheduler has to interrupt a reader there.
uint64_t wrong_events_without_the_reservation() {
  TestRandom random(4);
  RingWriter writer;
  while (writer.next() < 2 * kCapacity) {
    writer.operate(random);
  }
  const EventRingHead* head = writer.head();
  const uint64_t end = head->next_event;
  writer.operate(random);
  uint64_t wrong = 0;
  for (uint64_t number = end - kCapacity; number < end; number++) {
    const BlockEvent event = read_event(event_slots(head)[number % kCapacity]);
    wrong += event.sequence != number || !whole(event) ? 1 : 0;
  }
  return wrong;
}

// Counts wrong events seen by a reader concurrent with the writer, until one is found or the reader
// has read many events and lost some.
uint64_t violations() {
  constexpr uint64_t kEnough = 20000;
  RingWriter writer;
  std::atomic<uint64_t> wrong{0};
  std::atomic<uint64_t> met{0};
  std::atomic<uint64_t> lost{0};
  std::atomic<bool> done{false};
  std::thread reader([&] {
    BlockEvent events[kCapacity];
    uint64_t from = 0;
    while (!done.load(std::memory_order_relaxed)) {
      const uint64_t before = from;
      const uint32_t copied = read_events(writer.head(), kCapacity, &from, events, kCapacity);
      for (uint32_t i = 0; i < copied; i++) {
        wrong += events[i].sequence != from - copied + i || !whole(events[i]) ? 1 : 0;
      }
      met += copied;
      lost += from - copied - before;
      if (copied == 0) {
        std::this_thread::yield();  // the writer may need this core
      }
    }
  });
  TestRandom random(3);
  while (wrong == 0 && (met < kEnough || lost == 0)) {
    writer.operate(random);
    if (random.below(8) == 0) {
      std::this_thread::yield();
    }
  }
  done = true;
  reader.join();
  return wrong;
}

}  // namespace
}  // namespace kvasir

int main() {
  using namespace kvasir;
  reads_all_that_is_kept();
  waits_for_the_end_of_an_operation();
  CHECK(violations() == 0);
  CHECK(wrong_events_without_the_reservation() > 0);
  std::puts("event_ring_test: ok, the negative control failed as it must");
  return 0;
}
