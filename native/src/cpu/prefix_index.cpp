#include "kvasir/prefix_index.hpp"

#include <algorithm>

namespace kvasir {

// The part of a change within one run: the run's blocks from `offset` on are the change's from
// `first` on.
struct PrefixIndex::Segment {
  uint32_t run;
  uint32_t offset;
  uint32_t first;
  uint32_t count;
};

PrefixIndex::PrefixIndex(HashFormat format, uint64_t max_bytes)
    : format_(format), max_bytes_(max_bytes) {}

PrefixIndex::~PrefixIndex() = default;

PrefixIndex::Rank& PrefixIndex::make_rank(uint32_t rank) {
  if (rank >= ranks_.size()) ranks_.resize(rank + 1);
  if (!ranks_[rank]) {
    ranks_[rank] = std::make_unique<Rank>();
    table_bytes_ += ranks_[rank]->table.bytes();
  }
  return *ranks_[rank];
}

// ---- stored ----

ChangeStatus PrefixIndex::store(uint32_t rank, bool root, uint64_t parent_handle,
                                uint64_t root_hash, const uint64_t* handles,
                                const uint64_t* local_hashes, const uint64_t* sequence_hashes,
                                uint32_t count) {
  if (repeats(root, parent_handle, handles, count)) return ChangeStatus::kInvalidSequence;
  Rank* owner = rank_of(rank);
  uint32_t parent = kNoBlock;
  if (!root) {
    parent = owner == nullptr ? kNoBlock : owner->table.find(parent_handle);
    if (parent == kNoBlock) return ChangeStatus::kUnknownParent;
  }
  if (count == 0) return ChangeStatus::kUnchanged;
  bool changed = false;
  try {
    owner = &make_rank(rank);
    const uint64_t before = owner->table.bytes();
    owner->table.reserve(count);
    table_bytes_ += owner->table.bytes() - before;
    for (uint32_t i = 0; i < std::min(count, kAhead); ++i) owner->table.prefetch_slot(handles[i]);
    if (sequence_hashes != nullptr) {
      names_.assign(sequence_hashes, sequence_hashes + count);
    } else {
      chain(root ? root_hash : runs_.name(parent), root && root_hash == 0, local_hashes, count);
    }
    place(parent, count);
    for (const Segment& segment : segments_) {
      Run& run = runs_.run(segment.run);
      if (runs_.holder(&run, rank) == nullptr) runs_.add_holder(&run, rank);
    }
  } catch (const std::bad_alloc&) {
    abandon_places(rank);
    return ChangeStatus::kFull;
  }
  for (const Segment& segment : segments_) changed |= hold(rank, owner, segment, handles);
  // Handles that named other blocks before; their old blocks follow this change's own.
  for (size_t i = count; i < blocks_.size(); ++i) {
    drop(rank, owner, run_of(blocks_[i]), &blocks_[i], 1);
  }
  settle_all();
  finish();
  return changed ? ChangeStatus::kApplied : ChangeStatus::kUnchanged;
}

// Removes the places of a change for which there is no memory.
void PrefixIndex::abandon_places(uint32_t rank) {
  for (const Segment& segment : segments_) {
    Run& run = runs_.run(segment.run);
    const std::atomic<uint64_t>* element = runs_.holder(&run, rank);
    if (element != nullptr && holder_cut(element->load()) == 0 && !holder_uneven(element->load())) {
      runs_.remove_holder(&run, rank);
    }
    touched_.push_back(segment.run);
  }
  settle_all();
  finish();
}

// Whether a handle is repeated, the parent's included. Uses a small table of handles already seen;
// an entry written by an earlier change counts as free.
bool PrefixIndex::repeats(bool root, uint64_t parent_handle, const uint64_t* handles,
                          uint32_t count) {
  if (seen_.size() < 2 * (static_cast<size_t>(count) + 1)) {
    size_t size = 64;
    while (size < 2 * (static_cast<size_t>(count) + 1)) size *= 2;
    seen_.assign(size, {0, 0});
    change_ = 0;
  }
  ++change_;
  const size_t mask = seen_.size() - 1;
  const auto seen = [&](uint64_t handle) {
    size_t at = ((handle ^ handle >> 32) * 0x9E3779B97F4A7C15u >> 32) & mask;
    for (; seen_[at].change == change_; at = (at + 1) & mask) {
      if (seen_[at].handle == handle) return true;
    }
    seen_[at] = {handle, change_};
    return false;
  };
  if (!root) seen(parent_handle);
  for (uint32_t i = 0; i < count; ++i) {
    if (seen(handles[i])) return true;
  }
  return false;
}

// Fills names_. `first`: the first block has no parent, and the chain starts at the format's root.
void PrefixIndex::chain(uint64_t parent_name, bool first, const uint64_t* local_hashes,
                        uint32_t count) {
  names_.resize(count);
  const auto chain_by = [&](const auto& format) {
    uint64_t parent = first ? format.root() : parent_name;
    for (uint32_t i = 0; i < count; ++i) {
      parent = format.chain(first && i == 0, parent, local_hashes[i]);
      names_[i] = parent;
    }
  };
  if (format_ == HashFormat::kDynamo) {
    chain_by(DynamoBlockHash({}));
  } else {
    chain_by(KvasirBlockHash({}));
  }
}

// Finds or creates the places of names_ after a block. Fills segments_ and blocks_.
void PrefixIndex::place(uint32_t parent, uint32_t count) {
  segments_.clear();
  touched_.clear();
  blocks_.resize(count);
  const uint64_t* names = names_.data();
  for (uint32_t i = 0; i < count;) {
    Segment segment{RunTable::kNone, 0, i, 0};
    if (parent != kNoBlock) {
      const Granule& granule = runs_.granule_of(parent);
      const uint32_t offset = offset_in(granule, parent) + 1;
      const Run& run = runs_.run(granule.run);
      segment = {granule.run, offset, i, runs_.agreement(run, offset, names + i, count - i)};
    }
    if (segment.count == 0) {
      const uint32_t begun = runs_.find(names[i], parent);
      if (begun != RunTable::kNone) {
        segment = {begun, 0, i, runs_.agreement(runs_.run(begun), 0, names + i, count - i)};
      } else {
        append(&segment, segment.run, parent, count - i);
      }
    }
    segments_.push_back(segment);
    runs_.blocks(runs_.run(segment.run), segment.offset, segment.count, &blocks_[i]);
    i += segment.count;
    parent = blocks_[i - 1];
  }
}

// Adds new blocks: at the end of the run that they follow, or in a new run.
void PrefixIndex::append(Segment* segment, uint32_t run_number, uint32_t parent, uint32_t count) {
  const uint64_t* names = names_.data() + segment->first;
  if (parent != kNoBlock) {
    const uint32_t length = runs_.run(run_number).length.load(std::memory_order_relaxed);
    if (length == segment->offset) {
      segment->count = runs_.extend(run_number, names, count);
      if (segment->count > 0) return;
    }
  }
  const uint32_t depth = parent == kNoBlock ? 0 : runs_.run(run_number).depth + segment->offset;
  *segment = {runs_.create(parent, depth, names, count), 0, segment->first, count};
}

// Binds the handles of one segment. The previous blocks of rebound handles are appended to blocks_.
bool PrefixIndex::hold(uint32_t rank, Rank* owner, const Segment& segment,
                       const uint64_t* handles) {
  Run& run = runs_.run(segment.run);
  uint32_t bound = 0;  // of the segment's blocks, in order and new
  bool changed = false;
  std::atomic<uint64_t>* element = runs_.holder(&run, rank);
  const uint64_t held = element->load(std::memory_order_relaxed);
  const bool regular = !holder_uneven(held) && holder_cut(held) == segment.offset;
  const uint32_t total = static_cast<uint32_t>(names_.size());
  for (uint32_t i = segment.first; i < segment.first + segment.count; ++i) {
    if (i + kAhead < total) owner->table.prefetch_slot(handles[i + kAhead]);
    const uint32_t old = owner->table.bind(handles[i], blocks_[i]);
    if (old == blocks_[i]) continue;
    changed = true;
    if (old == kNoBlock) {
      ++memberships_;
    } else {
      blocks_.push_back(old);
    }
    if (regular && bound == i - segment.first) {
      ++bound;
    } else {
      if (bound > 0) {
        element->store(holder_element(rank, false, segment.offset + bound),
                       std::memory_order_release);
        bound = 0;
      }
      hold_one(rank, owner, segment.run, segment.offset + i - segment.first);
    }
  }
  if (bound > 0) {
    element->store(holder_element(rank, false, segment.offset + bound), std::memory_order_release);
  }
  return changed;
}

ChangeStatus PrefixIndex::alias(uint32_t rank, const uint64_t* handles, const uint64_t* of,
                                uint32_t count) {
  Rank* owner = rank_of(rank);
  if (owner == nullptr) return count == 0 ? ChangeStatus::kUnchanged : ChangeStatus::kUnknownBlock;
  touched_.clear();
  const uint64_t before = owner->table.bytes();
  owner->table.reserve(count);
  table_bytes_ += owner->table.bytes() - before;
  bool changed = false;
  bool unknown = false;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t block = owner->table.find(of[i]);
    unknown |= block == kNoBlock;
    if (block == kNoBlock) continue;
    const uint32_t old = owner->table.bind(handles[i], block);
    if (old == block) continue;
    changed = true;
    hold_one(rank, owner, run_of(block), offset_of(block));
    if (old == kNoBlock) {
      ++memberships_;
    } else {
      drop(rank, owner, run_of(old), &old, 1);
    }
  }
  settle_all();
  finish();
  if (unknown) return ChangeStatus::kUnknownBlock;
  return changed ? ChangeStatus::kApplied : ChangeStatus::kUnchanged;
}

// ---- removed ----

ChangeStatus PrefixIndex::remove(uint32_t rank, const uint64_t* handles, uint32_t count) {
  Rank* owner = rank_of(rank);
  if (owner == nullptr) return count == 0 ? ChangeStatus::kUnchanged : ChangeStatus::kUnknownBlock;
  touched_.clear();
  blocks_.clear();
  for (uint32_t i = 0; i < std::min(count, kAhead); ++i) owner->table.prefetch_slot(handles[i]);
  for (uint32_t i = 0; i < count; ++i) {
    if (i + kAhead < count) owner->table.prefetch_slot(handles[i + kAhead]);
    const uint32_t block = owner->table.erase(handles[i]);
    if (block == kNoBlock) continue;
    runs_.prefetch_block(block);
    blocks_.push_back(block);
  }
  const size_t removed = blocks_.size();
  memberships_ -= removed;
  for (size_t i = 0; i < removed;) {
    const uint32_t run = run_of(blocks_[i]);
    size_t end = i + 1;
    while (end < removed && run_of(blocks_[end]) == run) ++end;
    drop(rank, owner, run, &blocks_[i], static_cast<uint32_t>(end - i));
    i = end;
  }
  const uint64_t before = owner->table.bytes();
  owner->table.shrink();
  table_bytes_ += owner->table.bytes() - before;
  settle_all();
  finish();
  if (removed < count) return ChangeStatus::kUnknownBlock;
  return count == 0 ? ChangeStatus::kUnchanged : ChangeStatus::kApplied;
}

void PrefixIndex::clear(uint32_t rank) {
  Rank* owner = rank_of(rank);
  if (owner == nullptr) return;
  touched_.clear();
  forget_rank(rank, owner);
  table_bytes_ -= owner->table.bytes();
  memberships_ -= owner->table.size();
  ranks_[rank].reset();
  settle_all();
  finish();
}

// Removes a rank from all its runs.
void PrefixIndex::forget_rank(uint32_t rank, Rank* owner) {
  owner->table.for_each([&](uint64_t, uint32_t block) {
    const uint32_t number = run_of(block);
    Run& run = runs_.run(number);
    if (run.mark == 0) {
      run.mark = 1;
      touched_.push_back(number);
      runs_.remove_holder(&run, rank);
    }
  });
  for (const uint32_t number : touched_) runs_.run(number).mark = 0;
}

// ---- runs that have lost holders or successors ----

void PrefixIndex::settle_all() {
  for (const uint32_t number : touched_) {
    if (runs_.run(number).length.load(std::memory_order_relaxed) > 0) settle(number);
  }
  touched_.clear();
}

// Truncates a run after the last block in use. Removes the run, and its predecessors in turn, if no
// block is in use.
void PrefixIndex::settle(uint32_t number) {
  for (;;) {
    Run& run = runs_.run(number);
    const uint32_t needed = needed_length(run, number);
    if (needed > 0) {
      if (needed < run.length.load(std::memory_order_relaxed)) runs_.shorten(number, needed);
      return;
    }
    const uint32_t parent = run.parent;
    runs_.remove(number);
    if (parent == kNoBlock) return;
    number = run_of(parent);
  }
}

uint32_t PrefixIndex::needed_length(const Run& run, uint32_t number) const {
  uint32_t needed = run.successors > 0 ? run.needed : 0;
  const uint32_t length = run.length.load(std::memory_order_relaxed);
  runs_.for_each_holder(run, [&](uint64_t element) {
    if (needed == length) return;
    uint32_t end = holder_cut(element);
    if (holder_uneven(element)) {
      end = static_cast<uint32_t>(ranks_[holder_rank(element)]->uneven.at(number).handles.size());
    }
    needed = std::max(needed, end);
  });
  return needed;
}

void PrefixIndex::finish() { runs_.reclaim(); }

}  // namespace kvasir
