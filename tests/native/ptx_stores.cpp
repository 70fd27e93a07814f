// Global memory as other threads see it. A thread sees its own stores in order; the others see
// those to different addresses in any order, until a fence, a barrier, the end of the thread, or an
// atomic with a result on the same bytes. An atomic without a result is such a store; a load by its
// thread makes it visible. A strong load may give an older value than the newest, but none older
// than the thread's last fence or barrier, nor than what the thread has seen of the word.
#include <cstring>

#include "ptx_machine.hpp"

namespace ptx {
namespace {

constexpr size_t kMostPending = 8;
constexpr size_t kMostPast = 8;

Value in_memory(const Bytes& from, uint32_t bytes) {
  Value value;
  std::memcpy(&value.bits, from.data, bytes);
  for (uint32_t byte = 0; from.undefined != nullptr && byte < bytes; byte++) {
    value.undefined |= static_cast<uint8_t>(from.undefined[byte] << byte);
  }
  return value;
}

}  // namespace

bool Machine::Pending::overlaps(const uint8_t* other, uint32_t count) const {
  return to.data < other + count && other < to.data + bytes;
}

void Machine::store_later(Thread& thread, const Pending& store) {
  thread.pending.push_back(store);
  thread.pending.back().held = random_.below(2) == 0;
  if (thread.pending.size() > kMostPending) {
    show_from(thread, random_.below(kMostPending), true);
  }
}

void Machine::show_one(Thread& thread) {
  show_from(thread, random_.below(static_cast<uint32_t>(thread.pending.size())), false);
}

// Shows a store, or the first before it that must be shown earlier; not one that is held, unless it
// is forced.
void Machine::show_from(Thread& thread, size_t shown, bool forced) {
  for (size_t i = 0; i < shown; i++) {
    if (thread.pending[i].overlaps(thread.pending[shown].to.data, thread.pending[shown].bytes)) {
      shown = i;
      i = ~size_t{0};  // from the first again
    }
  }
  if (forced || !thread.pending[shown].held) {
    show(thread, thread.pending[shown]);
    thread.pending.erase(thread.pending.begin() + static_cast<std::ptrdiff_t>(shown));
  }
}

void Machine::show_all(Thread& thread) {
  for (const Pending& pending : thread.pending) {
    show(thread, pending);
  }
  thread.pending.clear();
}

void Machine::show_those_of(Thread& thread, const uint8_t* data, uint32_t bytes,
                            bool atomics_only) {
  for (const Pending& pending : thread.pending) {
    if (pending.overlaps(data, bytes) && (!atomics_only || pending.self->op != Op::kStore)) {
      show_all(thread);
      return;
    }
  }
}

void Machine::show(Thread& thread, const Pending& pending) {
  Value value = pending.value;
  if (pending.self->op != Op::kStore) {
    const Value old = in_memory(pending.to, pending.bytes);
    value = {changed(*pending.self, old.bits, value.bits, 0), 0};
  }
  if (pending.self->strong) {
    remember(thread, pending.to, pending.bytes);
  }
  put(pending.to, value, pending.bytes);
  const bool beside = thread.block->grid != main_;
  host.store(pending.to.data, value.bits, pending.bytes, beside, random_);
}

void Machine::put(const Bytes& to, Value value, uint32_t bytes) {
  std::memcpy(to.data, &value.bits, bytes);
  for (uint32_t byte = 0; to.undefined != nullptr && byte < bytes; byte++) {
    to.undefined[byte] = value.undefined >> byte & 1;
  }
}

// What the thread sees: its own stores over what is in memory.
Value Machine::load(const Thread& thread, const Bytes& from, uint32_t bytes) {
  Value value = in_memory(from, bytes);
  uint8_t data[8] = {};
  std::memcpy(data, &value.bits, bytes);
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

// ---- older values -------------------------------------------------------------------------------

// The word is about to change, and the thread knows of it.
void Machine::remember(Thread& thread, const Bytes& word, uint32_t bytes) {
  std::vector<Past>& past = past_[word.data];
  past.push_back({++now_, in_memory(word, bytes), bytes});
  if (past.size() > kMostPast) {
    past.erase(past.begin());
  }
  thread.known[word.data] = now_;
}

// In place of the newest value of a word, which a strong load would give.
Value Machine::older(Thread& thread, const Bytes& word, uint32_t bytes, Value newest) {
  const auto found = past_.find(word.data);
  if (found == past_.end()) {
    return newest;
  }
  for (const Pending& pending : thread.pending) {
    if (pending.overlaps(word.data, bytes)) {
      return newest;
    }
  }
  uint64_t& known = thread.known[word.data];
  known = std::max(known, thread.fresh);
  for (const Past& past : found->second) {
    if (past.until > known && past.bytes == bytes && random_.below(2) == 0) {
      return past.value;
    }
    known = std::max(known, past.until);
  }
  return newest;
}

// Nothing that the thread reads from now on is older than now.
void Machine::refresh(Thread& thread) {
  thread.fresh = now_;
  thread.known.clear();
}

}  // namespace ptx
