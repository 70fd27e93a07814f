// One rank's engine handles and the blocks they name. Confined to the index's writer.
#pragma once

#include <cstdint>
#include <memory>

#include "kvasir/platform.hpp"
#include "kvasir/zeroed_array.hpp"

namespace kvasir {

// Open addressing over cache lines. A line holds five pairs and counts those that passed it by
// because it was full: a look-up ends at the first line with the key or without such a count, and
// a removal leaves nothing behind. Any number of lines will do, so the table grows and shrinks by
// small steps and stays well filled. Handles are any numbers; they are mixed before use.
class HandleTable {
 public:
  static constexpr uint32_t kNoBlock = UINT32_MAX;

  HandleTable() : lines_(std::make_unique<ZeroedArray<Line>>(1)), line_count_(1) {}

  uint64_t size() const { return size_; }
  size_t bytes() const { return line_count_ * sizeof(Line); }

  void prefetch_line(uint64_t handle) const { prefetch(&(*lines_)[home(handle)]); }

  // The handle's block, or kNoBlock.
  uint32_t find(uint64_t handle) const {
    uint64_t at = home(handle);
    for (uint64_t seen = 0; seen < line_count_; ++seen, at = after(at)) {
      const Line& line = (*lines_)[at];
      const uint32_t i = position(line, handle);
      if (i < kPairs) return line.block_plus_1[i] - 1;
      if (line.passed == 0) break;
    }
    return kNoBlock;
  }

  // Makes room for so many more. Throws std::bad_alloc without effect when there is none.
  void reserve(uint64_t more) {
    const uint64_t wanted = size_ + more;
    if (wanted * 8 > line_count_ * kPairs * 7) {
      const uint64_t grown = line_count_ + line_count_ / 4;
      const uint64_t needed = wanted * 4 / (kPairs * 3) + 1;
      resize(grown > needed ? grown : needed);
    }
  }

  // Binds a handle that is not here. There must be room.
  void insert(uint64_t handle, uint32_t block) {
    uint64_t at = home(handle);
    for (;; at = after(at)) {
      Line& line = (*lines_)[at];
      for (uint32_t i = 0; i < kPairs; ++i) {
        if (line.block_plus_1[i] == 0) {
          line.handles[i] = handle;
          line.block_plus_1[i] = block + 1;
          ++size_;
          return;
        }
      }
      ++line.passed;
    }
  }

  // Binds a handle that is here to another block.
  void rebind(uint64_t handle, uint32_t block) {
    uint64_t at = home(handle);
    for (;; at = after(at)) {
      Line& line = (*lines_)[at];
      const uint32_t i = position(line, handle);
      if (i < kPairs) {
        line.block_plus_1[i] = block + 1;
        return;
      }
    }
  }

  // Unbinds a handle and returns its block, or kNoBlock if it is not here.
  uint32_t erase(uint64_t handle) {
    const uint32_t block = find(handle);
    if (block == kNoBlock) return kNoBlock;
    uint64_t at = home(handle);
    for (;; at = after(at)) {
      Line& line = (*lines_)[at];
      const uint32_t i = position(line, handle);
      if (i < kPairs) {
        line.block_plus_1[i] = 0;
        --size_;
        return block;
      }
      --line.passed;
    }
  }

  // Gives memory back that removals have freed.
  void shrink() {
    if (line_count_ > 64 && size_ * 5 < line_count_ * kPairs * 2) {
      resize(size_ * 4 / (kPairs * 3) + 1);
    }
  }

  // Calls f(handle, block) for every pair.
  template <typename F>
  void for_each(F f) const {
    for (uint64_t at = 0; at < line_count_; ++at) {
      const Line& line = (*lines_)[at];
      for (uint32_t i = 0; i < kPairs; ++i) {
        if (line.block_plus_1[i] != 0) f(line.handles[i], line.block_plus_1[i] - 1);
      }
    }
  }

 private:
  static constexpr uint32_t kPairs = 5;

  struct alignas(64) Line {
    uint64_t handles[kPairs];
    uint32_t block_plus_1[kPairs];  // 0: no pair
    uint32_t passed;
  };

  uint64_t home(uint64_t handle) const {
    uint64_t x = (handle ^ handle >> 32) * 0x0E9846AF9B1A615Du;
    x = (x ^ x >> 32) * 0x0E9846AF9B1A615Du;
    return static_cast<uint64_t>(static_cast<unsigned __int128>(x) * line_count_ >> 64);
  }

  uint64_t after(uint64_t at) const { return at + 1 == line_count_ ? 0 : at + 1; }

  static uint32_t position(const Line& line, uint64_t handle) {
    uint32_t i = 0;
    while (i < kPairs && !(line.handles[i] == handle && line.block_plus_1[i] != 0)) ++i;
    return i;
  }

  void resize(uint64_t line_count) {
    auto lines = std::make_unique<ZeroedArray<Line>>(line_count);
    lines.swap(lines_);
    const uint64_t old_count = line_count_;
    line_count_ = line_count;
    size_ = 0;
    for (uint64_t at = 0; at < old_count; ++at) {
      const Line& line = (*lines)[at];
      for (uint32_t i = 0; i < kPairs; ++i) {
        if (line.block_plus_1[i] != 0) insert(line.handles[i], line.block_plus_1[i] - 1);
      }
    }
  }

  std::unique_ptr<ZeroedArray<Line>> lines_;
  uint64_t line_count_;
  uint64_t size_ = 0;
};

}  // namespace kvasir
