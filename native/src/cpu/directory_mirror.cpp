#include "kvasir/directory_mirror.hpp"

#include <algorithm>

namespace kvasir {

namespace {

// Events copied from a ring at a time.
constexpr uint32_t kEventsAtOnce = 128;

// More events than a pool can have.
constexpr uint64_t kMaxEvents = ~uint64_t{0} >> 1;

// Prefetch distance, in hashes.
constexpr uint32_t kLookAhead = 8;

// Whether a ring may hold these events from a number on.
bool are_expected(const BlockEvent* events, uint32_t count, uint64_t first) {
  for (uint32_t i = 0; i < count; i++) {
    const BlockEventKind kind = events[i].kind;
    if (events[i].sequence != first + i ||
        (kind != BlockEventKind::kStored && kind != BlockEventKind::kRemoved &&
         kind != BlockEventKind::kCleared)) {
      return false;
    }
  }
  return true;
}

}  // namespace

DirectoryMirror::DirectoryMirror(uint32_t capacity_blocks)
    : capacity_blocks_(capacity_blocks), names_(capacity_blocks), state_{0, 0, 1, 0, 0} {}

void DirectoryMirror::apply(const BlockEvent* events, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (i + kLookAhead < count) {
      directory_prefetch(names_.view(), events[i + kLookAhead].hash);
    }
    const BlockEvent& event = events[i];
    if (event.sequence < state_.next_event) {
      state_.ignored++;
      continue;
    }
    expect(event.sequence);
    state_.next_event++;
    if (event.kind == BlockEventKind::kCleared) {
      forget();
      state_.known = 1;
    } else if (state_.known == 0) {
      state_.ignored++;
    } else if (event.kind == BlockEventKind::kStored) {
      if (!store(event.hash)) {
        confirm(event.hash);
      }
    } else {
      remove(event.hash);
    }
  }
}

void DirectoryMirror::follow(const EventRingHead* ring, uint32_t event_capacity) {
  BlockEvent events[kEventsAtOnce];
  const uint64_t end = __atomic_load_n(&ring->next_event, __ATOMIC_ACQUIRE);
  if (end < state_.next_event || end > kMaxEvents) {
    lose(std::min(end, state_.next_event));
    return;
  }
  for (uint32_t left = event_capacity; left > 0;) {
    const uint32_t most = std::min(left, kEventsAtOnce);
    uint64_t from = state_.next_event;
    const uint32_t copied = read_events(ring, event_capacity, &from, events, most);
    if (!are_expected(events, copied, from - copied)) {
      lose(from);
      break;
    }
    apply(events, copied);
    left = copied < most ? 0 : left - copied;
  }
  for (; confirmed_ < added_.size(); confirmed_++) {
    remove(added_[confirmed_]);
  }
  added_.clear();
  confirmed_ = 0;
}

void DirectoryMirror::add(const uint64_t* hashes, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (state_.known == 0) {
      state_.ignored++;
    } else {
      if (store(hashes[i])) {
        added_.push_back(hashes[i]);
      }
    }
  }
}

// False if the hash is already present, or there is no room.
bool DirectoryMirror::store(uint64_t hash) {
  if (names_.find(hash) >= 0 || state_.names == capacity_blocks_) {
    state_.ignored++;
    return false;
  }
  names_.insert(hash);
  state_.names++;
  return true;
}

// Events arrive in the order in which hashes were added, though some may never arrive.
void DirectoryMirror::confirm(uint64_t hash) {
  const auto next = added_.begin() + static_cast<std::ptrdiff_t>(confirmed_);
  const auto found = std::find(next, added_.end(), hash);
  if (found != added_.end()) {
    std::rotate(next, found, found + 1);
    confirmed_++;
  }
}

void DirectoryMirror::remove(uint64_t hash) {
  const int64_t position = names_.find(hash);
  if (position < 0) {
    state_.ignored++;
    return;
  }
  names_.erase(hash, static_cast<uint64_t>(position));
  state_.names--;
}

void DirectoryMirror::forget() {
  if (state_.names > 0) {
    names_.clear();
    state_.names = 0;
  }
  added_.clear();
  confirmed_ = 0;
}

// Detects that events before this one were lost.
void DirectoryMirror::expect(uint64_t event) {
  if (event > state_.next_event) {
    lose(event);
  }
}

void DirectoryMirror::lose(uint64_t next_event) {
  state_.next_event = next_event;
  state_.gaps++;
  state_.known = 0;
  forget();
}

}  // namespace kvasir
