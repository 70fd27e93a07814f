// The directory's owner: the arrays of block_directory_core.hpp in host memory, and what changes
// them. Confined to the rank's executor thread; anyone may look up through view().
#pragma once

#include "kvasir/block_directory_core.hpp"
#include "kvasir/zeroed_array.hpp"

namespace kvasir {

class BlockDirectory {
 public:
  explicit BlockDirectory(uint64_t capacity_blocks);

  const Directory& view() const { return view_; }

  // The block of a name, or kNoBlock.
  uint32_t find(uint64_t hash) const {
    const int64_t position = directory_find(view_, hash);
    return position < 0 ? kNoBlock : blocks_[static_cast<size_t>(position)];
  }
  void prefetch(uint64_t hash) const { directory_prefetch(view_, hash); }

  // The name must not be there yet.
  void insert(uint64_t hash, uint32_t block);
  // The name must be there.
  void erase(uint64_t hash);
  void clear();

 private:
  ZeroedArray<Bucket> buckets_;
  ZeroedArray<uint32_t> blocks_;
  Directory view_;
};

}  // namespace kvasir
