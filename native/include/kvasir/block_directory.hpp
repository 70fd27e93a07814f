// The directory's owner: the arrays of block_directory_core.hpp in host memory, and what changes
// them. Confined to one thread, of a pool the rank's executor thread; anyone may look up through
// view().
#pragma once

#include "kvasir/block_directory_core.hpp"
#include "kvasir/zeroed_array.hpp"

namespace kvasir {

constexpr uint64_t kNotADirectory = ~uint64_t{0};

// Names alone. At most `capacity_blocks` of them: the owner sees to it.
class NameDirectory {
 public:
  explicit NameDirectory(uint64_t capacity_blocks);

  // Its `blocks` are null.
  const Directory& view() const { return view_; }

  // Position of a name, or -1.
  int64_t find(uint64_t hash) const { return directory_find(view_, hash); }

  // The name must not be there yet. Returns its position.
  uint64_t insert(uint64_t hash);
  // The position must hold the name.
  void erase(uint64_t hash, uint64_t position);
  void clear();
  // Takes over all names of a directory for the same capacity. Returns how many there are, or
  // kNotADirectory: the bytes may be any, but every `passed` must be what the keys require, because
  // look-ups in wrong ones could visit all buckets or miss keys. Look-ups stay safe in either case.
  uint64_t copy(const Bucket* buckets);

 private:
  ZeroedArray<Bucket> buckets_;
  Directory view_;
};

// Names and the blocks that bear them.
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
  void insert(uint64_t hash, uint32_t block) { blocks_[names_.insert(hash)] = block; }
  // The name must be there.
  void erase(uint64_t hash) { names_.erase(hash, static_cast<uint64_t>(names_.find(hash))); }
  void clear() { names_.clear(); }

 private:
  NameDirectory names_;
  ZeroedArray<uint32_t> blocks_;
  Directory view_;
};

// Looks prompts up in several directories at once: matched[directory * prompts + prompt] = leading
// blocks held, 0 for a null directory. Prompt i owns hashes[offsets[i]] to hashes[offsets[i + 1]].
// Safe beside each directory's owner. The look-ups are interleaved so that their cache misses
// overlap. `directory_count` is at least 1.
void probe(const Directory* const* directories, uint32_t directory_count, const uint64_t* hashes,
           const uint32_t* offsets, uint32_t prompts, uint32_t* matched);

}  // namespace kvasir
