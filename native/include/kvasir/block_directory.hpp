// Owns the arrays of block_directory_core.hpp in host memory and modifies them. Confined to one
// thread (for a pool, the rank's executor thread); any thread may look up through view().
#pragma once

#include "kvasir/block_directory_core.hpp"
#include "kvasir/zeroed_array.hpp"

namespace kvasir {

// A directory of sequence hashes only. The owner must not exceed `capacity_blocks`.
class NameDirectory {
 public:
  explicit NameDirectory(uint64_t capacity_blocks);

  // Its `blocks` are null.
  const Directory& view() const { return view_; }

  // Position of a hash, or -1.
  int64_t find(uint64_t hash) const { return directory_find(view_, hash); }

  // The hash must be absent. Returns its position.
  uint64_t insert(uint64_t hash);
  // The position must hold the hash.
  void erase(uint64_t hash, uint64_t position);
  void clear();

 private:
  ZeroedArray<Bucket> buckets_;
  Directory view_;
};

// A directory of sequence hashes and their blocks.
class BlockDirectory {
 public:
  explicit BlockDirectory(uint64_t capacity_blocks);

  const Directory& view() const { return view_; }

  // The block of a hash, or kNoBlock.
  uint32_t find(uint64_t hash) const {
    const int64_t position = directory_find(view_, hash);
    return position < 0 ? kNoBlock : blocks_[static_cast<size_t>(position)];
  }
  KVASIR_PREFETCHES void prefetch(uint64_t hash) const { directory_prefetch(view_, hash); }

  // The hash must be absent.
  void insert(uint64_t hash, uint32_t block) { blocks_[names_.insert(hash)] = block; }
  // The hash must be present.
  void erase(uint64_t hash) { names_.erase(hash, static_cast<uint64_t>(names_.find(hash))); }
  void clear() { names_.clear(); }

 private:
  NameDirectory names_;
  ZeroedArray<uint32_t> blocks_;
  Directory view_;
};

// Matches prompts in several directories at once: matched[directory * prompts + prompt] = matched
// leading blocks, 0 for a null directory. Prompt i owns hashes[offsets[i]] to hashes[offsets[i +
// 1]]. Safe while the directories' owners modify them. The look-ups are interleaved so that their
// cache misses overlap. `directory_count` is at least 1.
void probe(const Directory* const* directories, uint32_t directory_count, const uint64_t* hashes,
           const uint32_t* offsets, uint32_t prompts, uint32_t* matched);

}  // namespace kvasir
