// Stores to global memory that other threads do not see yet. A thread sees its own in order; the
// others see those to different addresses in any order, until a fence, a barrier, an atomic of the
// same bytes or the end of the thread.
#include <cstring>

#include "ptx_machine.hpp"

namespace ptx {
namespace {

constexpr size_t kMostPending = 8;

}  // namespace

bool Machine::Pending::overlaps(const uint8_t* other, uint32_t count) const {
  return to.data < other + count && other < to.data + bytes;
}

void Machine::store_later(Thread& thread, const Bytes& to, Value value, uint32_t bytes) {
  thread.pending.push_back({to, value, bytes});
  if (thread.pending.size() > kMostPending) {
    show_one(thread);
  }
}

// Any one that no earlier one overlaps.
void Machine::show_one(Thread& thread) {
  size_t shown = random_.below(static_cast<uint32_t>(thread.pending.size()));
  for (size_t i = 0; i < shown; i++) {
    const Pending& later = thread.pending[shown];
    if (thread.pending[i].overlaps(later.to.data, later.bytes)) {
      shown = i;
    }
  }
  store_now(thread.pending[shown]);
  thread.pending.erase(thread.pending.begin() + static_cast<std::ptrdiff_t>(shown));
}

void Machine::show_all(Thread& thread) {
  for (const Pending& pending : thread.pending) {
    store_now(pending);
  }
  thread.pending.clear();
}

void Machine::show_those_of(Thread& thread, const uint8_t* data, uint32_t bytes) {
  for (const Pending& pending : thread.pending) {
    if (pending.overlaps(data, bytes)) {
      show_all(thread);
      return;
    }
  }
}

void Machine::store_now(const Pending& pending) {
  std::memcpy(pending.to.data, &pending.value.bits, pending.bytes);
  for (uint32_t byte = 0; pending.to.undefined != nullptr && byte < pending.bytes; byte++) {
    pending.to.undefined[byte] = pending.value.undefined >> byte & 1;
  }
  if (seen_ && pending.overlaps(watched_, static_cast<uint32_t>(watched_bytes_))) {
    seen_();
  }
}

// What the thread sees: its own stores over what is in memory.
Value Machine::load(const Thread& thread, const Bytes& from, uint32_t bytes) {
  Value value;
  uint8_t data[8] = {};
  std::memcpy(data, from.data, bytes);
  for (uint32_t byte = 0; from.undefined != nullptr && byte < bytes; byte++) {
    value.undefined |= static_cast<uint8_t>(from.undefined[byte] << byte);
  }
  for (const Pending& pending : thread.pending) {
    for (uint32_t byte = 0; byte < bytes && pending.overlaps(from.data, bytes); byte++) {
      const std::ptrdiff_t at = from.data + byte - pending.to.data;
      if (at >= 0 && at < static_cast<std::ptrdiff_t>(pending.bytes)) {
        data[byte] = static_cast<uint8_t>(pending.value.bits >> 8 * at);
        const uint32_t undefined = pending.value.undefined >> at & 1;
        value.undefined =
            static_cast<uint8_t>((value.undefined & ~(1u << byte)) | undefined << byte);
      }
    }
  }
  std::memcpy(&value.bits, data, bytes);
  return value;
}

}  // namespace ptx
