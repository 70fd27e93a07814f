// One rank's engine handles and their blocks. Confined to the index's writer.
#pragma once

#include <cstdint>
#include <memory>

#include "kvasir/platform.hpp"
#include "kvasir/zeroed_array.hpp"

namespace kvasir {

// The inverse of an odd number modulo 2^64: each round of Newton's iteration doubles the valid
// bits.
constexpr uint64_t odd_inverse(uint64_t odd) {
  uint64_t x = odd;
  for (int round = 0; round < 5; ++round) x *= 2 - odd * x;
  return x;
}

// A sorted open-addressing array in descending order of keys; gaps are zeros. A key is its handle,
// mixed by a bijection, so keys are uniformly distributed, and a key's home is proportional to its
// value. Pairs are at their home or, displaced by larger keys, a little after it. A look-up ends at
// the first smaller key. A removal leaves no tombstone, because displaced pairs move back. Resizing
// copies the array in one pass, so it grows in small steps and stays well filled. The one handle
// whose key is zero is stored separately.
class HandleTable {
 public:
  static constexpr uint32_t kNoBlock = UINT32_MAX;

  HandleTable() : homes_(kFewest), slots_(make(kFewest)) {}

  uint64_t size() const { return size_; }
  size_t bytes() const { return (homes_ + kSpare) * sizeof(Slot); }

  KVASIR_PREFETCHES void prefetch_slot(uint64_t handle) const {
    prefetch(&(*slots_)[home(mix(handle), homes_)]);
  }

  // The handle's block, or kNoBlock.
  uint32_t find(uint64_t handle) const {
    const uint64_t key = mix(handle);
    if (key == 0) return block_of_zero_;
    const Slot& slot = (*slots_)[search(key)];
    return slot.key == key ? slot.block : kNoBlock;
  }

  // Makes room for this many more pairs. Throws std::bad_alloc without effect if memory is
  // exhausted.
  void reserve(uint64_t more) {
    const uint64_t wanted = size_ + more;
    if (wanted * 4 > homes_ * 3) {
      const uint64_t grown = homes_ + homes_ / 8;
      const uint64_t needed = wanted * 7 / 5;
      resize(grown > needed ? grown : needed);
    }
  }

  // Binds a handle and returns its previous block, or kNoBlock. There must be room. Throws
  // std::bad_alloc without effect.
  uint32_t bind(uint64_t handle, uint32_t block) {
    const uint64_t key = mix(handle);
    if (key == 0) return bind_zero(block);
    const uint64_t at = search(key);
    Slot* slots = slots_->data();
    if (slots[at].key == key) {
      const uint32_t before = slots[at].block;
      slots[at].block = block;
      return before;
    }
    uint64_t gap = at;
    while (slots[gap].key != 0) ++gap;
    if (gap == homes_ + kSpare - 1) {  // the last slot stays free: searches end there
      resize(homes_ + homes_ / 8);
      return bind(handle, block);
    }
    for (; gap > at; --gap) slots[gap] = slots[gap - 1];
    slots[at] = {key, block};
    ++size_;
    return kNoBlock;
  }

  // Unbinds a handle and returns its block, or kNoBlock if unknown.
  uint32_t erase(uint64_t handle) {
    const uint64_t key = mix(handle);
    if (key == 0) return bind_zero(kNoBlock);
    uint64_t at = search(key);
    Slot* slots = slots_->data();
    if (slots[at].key != key) return kNoBlock;
    const uint32_t block = slots[at].block;
    for (; slots[at + 1].key != 0 && home(slots[at + 1].key, homes_) <= at; ++at) {
      slots[at] = slots[at + 1];
    }
    slots[at].key = 0;
    --size_;
    return block;
  }

  // Releases memory that removals have freed.
  void shrink() {
    if (homes_ > 16 * kFewest && size_ * 5 < homes_ * 2) resize(size_ * 7 / 5);
  }

  // Calls f(handle, block) for every pair.
  template <typename F>
  void for_each(F f) const {
    if (block_of_zero_ != kNoBlock) f(unmix(0), block_of_zero_);
    for (uint64_t at = 0; at < homes_ + kSpare; ++at) {
      const Slot& slot = (*slots_)[at];
      if (slot.key != 0) f(unmix(slot.key), slot.block);
    }
  }

 private:
  static constexpr uint64_t kFewest = 16;
  static constexpr uint64_t kSpare = 64;  // slots after the last home
  static constexpr uint64_t kMultiplier = 0x0E9846AF9B1A615Du;

#pragma pack(push, 4)
  struct Slot {
    uint64_t key;  // 0: a gap
    uint32_t block;
  };
#pragma pack(pop)
  static_assert(sizeof(Slot) == 12, "no padding");

  static std::unique_ptr<ZeroedArray<Slot>> make(uint64_t homes) {
    return std::make_unique<ZeroedArray<Slot>>(homes + kSpare);
  }

  static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 32) * kMultiplier;
    x = (x ^ x >> 32) * kMultiplier;
    return x ^ x >> 28;
  }

  static uint64_t unmix(uint64_t x) {
    constexpr uint64_t kInverse = odd_inverse(kMultiplier);
    x = (x ^ x >> 28 ^ x >> 56) * kInverse;
    x = (x ^ x >> 32) * kInverse;
    return x ^ x >> 32;
  }

  static uint64_t home(uint64_t key, uint64_t homes) {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(~key) * homes >> 64);
  }

  // The slot of a key, or its insertion point.
  uint64_t search(uint64_t key) const {
    const Slot* slots = slots_->data();
    uint64_t at = home(key, homes_);
    while (slots[at].key > key) ++at;
    return at;
  }

  uint32_t bind_zero(uint32_t block) {
    const uint32_t before = block_of_zero_;
    size_ += static_cast<uint64_t>(block != kNoBlock) - (before != kNoBlock);
    block_of_zero_ = block;
    return before;
  }

  void resize(uint64_t homes) {
    if (homes < kFewest) homes = kFewest;
    for (;; homes += homes / 8) {
      auto slots = make(homes);
      if (copy_to(slots->data(), homes)) {
        slots_ = std::move(slots);
        homes_ = homes;
        return;
      }
    }
  }

  // False if the pairs reach the last slot.
  bool copy_to(Slot* to, uint64_t homes) const {
    uint64_t next = 0;
    for (uint64_t at = 0; at < homes_ + kSpare; ++at) {
      const Slot& slot = (*slots_)[at];
      if (slot.key == 0) continue;
      const uint64_t own = home(slot.key, homes);
      if (own > next) next = own;
      if (next == homes + kSpare - 1) return false;
      to[next++] = slot;
    }
    return true;
  }

  uint64_t homes_;
  std::unique_ptr<ZeroedArray<Slot>> slots_;
  uint64_t size_ = 0;
  uint32_t block_of_zero_ = kNoBlock;
};

}  // namespace kvasir
