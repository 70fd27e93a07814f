// Read the occupancy page and the event ring as the host does during a launch, one word at a time
// and at their own pace, and check what they take for whole.
#pragma once

#include <algorithm>
#include <map>

#include "check.hpp"
#include "kvasir/event_ring_core.hpp"
#include "kvasir/occupancy_page.hpp"

namespace kvasir {

class PageReader {
 public:
  explicit PageReader(const OccupancyPage& page) : page_(page) {}

  // Nothing is late: the page is what was published.
  void settle() {
    before_ = page_.sequence;
    std::copy(page_.words, page_.words + kOccupancyWords, words_);
    check();
    read_ = 0;
  }

  void step() {
    if (read_ == 0) {
      before_ = page_.sequence;
      read_ += before_ % 2 == 0 ? 1 : 0;
    } else if (read_ <= kOccupancyWords) {
      words_[read_ - 1] = page_.words[read_ - 1];
      read_++;
    } else {
      if (page_.sequence == before_) {
        check();
      }
      read_ = 0;
    }
  }

 private:
  // Words: capacity, free, cached, active.
  void check() {
    CHECK(words_[1] + words_[2] + words_[3] == words_[0]);
    CHECK(before_ != known_ || std::equal(words_, words_ + kOccupancyWords, known_words_));
    known_ = before_;
    std::copy(words_, words_ + kOccupancyWords, known_words_);
  }

  const OccupancyPage& page_;
  uint32_t read_ = 0;
  uint64_t before_ = 0;
  uint64_t words_[kOccupancyWords] = {};
  uint64_t known_ = ~uint64_t{0};
  uint64_t known_words_[kOccupancyWords] = {};
};

// One event at a time, most often one that is about to be overwritten.
class RingReader {
 public:
  RingReader(const EventRingHead* ring, uint32_t capacity) : ring_(ring), capacity_(capacity) {}

  // Nothing is late: the ring has the newest events.
  void settle() {
    const uint64_t next = ring_->next_event;
    for (uint64_t event = std::max(settled_, oldest(next)); event < next; event++) {
      check(event, event_slots(ring_)[event % capacity_]);
    }
    settled_ = next;
    known_.erase(known_.begin(), known_.lower_bound(oldest(oldest(next))));
    read_ = 0;
  }

  void step(TestRandom& random) {
    if (read_ == 0) {
      const uint64_t next = ring_->next_event;
      const uint64_t first = oldest(next);
      const auto kept = static_cast<uint32_t>(next - first);
      if (kept > 0) {
        event_ = first + random.below(random.below(2) == 0 ? std::min(kept, 4u) : kept);
        read_++;
      }
    } else if (read_ <= 4) {
      copy_.words[read_ - 1] = event_slots(ring_)[event_ % capacity_].words[read_ - 1];
      read_++;
    } else {
      if (event_ + capacity_ >= ring_->reserved_end) {
        check(event_, copy_);
      }
      read_ = 0;
    }
  }

 private:
  uint64_t oldest(uint64_t next) const { return next > capacity_ ? next - capacity_ : 0; }

  void check(uint64_t event, const EventSlot& copy) {
    CHECK(copy.words[0] == event);
    const EventSlot& known = known_.emplace(event, copy).first->second;
    CHECK(std::equal(copy.words, copy.words + 4, known.words));
  }

  const EventRingHead* ring_;
  const uint64_t capacity_;
  uint32_t read_ = 0;
  uint64_t event_ = 0;
  EventSlot copy_{};
  uint64_t settled_ = 0;
  std::map<uint64_t, EventSlot> known_;
};

class HostReaders {
 public:
  HostReaders(const OccupancyPage& page, const EventRingHead* ring, uint32_t capacity)
      : page_(page), pages_(page), ring_(ring, capacity) {
    settle();
  }

  void settle() {
    pages_.settle();
    ring_.settle();
    sequence_ = page_.sequence;
  }

  // The host has seen something. A page that is new comes after all other stores of its stream,
  // because a submission is over when the host sees its page.
  void go_on(bool sees_all) {
    CHECK(page_.sequence == sequence_ || page_.sequence % 2 != 0 || sees_all);
    sequence_ = page_.sequence;
    for (uint32_t steps = random_.below(2 * kOccupancyWords); steps > 0; steps--) {
      pages_.step();
      ring_.step(random_);
    }
  }

 private:
  const OccupancyPage& page_;
  PageReader pages_;
  RingReader ring_;
  TestRandom random_{g_seed + 7};
  uint64_t sequence_ = 0;
};

}  // namespace kvasir
