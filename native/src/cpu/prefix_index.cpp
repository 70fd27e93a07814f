#include "kvasir/prefix_index.hpp"

#include <algorithm>

namespace kvasir {

namespace {

// Prefetch distance, in handles.
constexpr uint32_t kAhead = 8;

constexpr uint32_t offset_in(const Granule& granule, uint32_t block) {
  return granule.base + (block & 7);
}

}  // namespace

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

uint32_t PrefixIndex::run_of(uint32_t block) const { return runs_.granule_of(block).run; }

uint32_t PrefixIndex::offset_of(uint32_t block) const {
  return offset_in(runs_.granule_of(block), block);
}

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
    for (const Segment& segment : segments_) {
      Run& run = runs_.run(segment.run);
      const std::atomic<uint64_t>* element = runs_.holder(&run, rank);
      if (element != nullptr && holder_cut(element->load()) == 0 &&
          !holder_uneven(element->load())) {
        runs_.remove_holder(&run, rank);
      }
      touched_.push_back(segment.run);
    }
    settle_all();
    finish();
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

// Adds one more handle to a block.
void PrefixIndex::hold_one(uint32_t rank, Rank* owner, uint32_t run, uint32_t offset) {
  std::atomic<uint64_t>* element = runs_.holder(&runs_.run(run), rank);
  const uint64_t held = element->load(std::memory_order_relaxed);
  if (!holder_uneven(held) && holder_cut(held) == offset) {
    element->store(holder_element(rank, false, offset + 1), std::memory_order_release);
    return;
  }
  Uneven& uneven = uneven_of(owner, run, holder_cut(held));
  if (uneven.handles.size() <= offset) uneven.handles.resize(offset + 1);
  uneven.held += uneven.handles[offset]++ == 0;
  ++uneven.total;
  refresh_cut(rank, owner, run, uneven, holder_cut(held));
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

// Removes one handle each from blocks of one run. The run is settled later.
void PrefixIndex::drop(uint32_t rank, Rank* owner, uint32_t run, const uint32_t* blocks,
                       uint32_t count) {
  if (touched_.empty() || touched_.back() != run) touched_.push_back(run);
  Run& entry = runs_.run(run);
  std::atomic<uint64_t>* element = runs_.holder(&entry, rank);
  const uint64_t held = element->load(std::memory_order_relaxed);
  const uint32_t cut = holder_cut(held);
  if (!holder_uneven(held)) {
    uint32_t least = cut;
    for (uint32_t i = 0; i < count; ++i) least = std::min(least, offset_of(blocks[i]));
    if (least == cut - count) {  // the last ones, in any order: each has one handle
      if (least == 0) {
        runs_.remove_holder(&entry, rank);
      } else {
        element->store(holder_element(rank, false, least), std::memory_order_release);
      }
      return;
    }
  }
  for (uint32_t i = 0; i < count; ++i) drop_one(rank, owner, run, offset_of(blocks[i]));
}

void PrefixIndex::drop_one(uint32_t rank, Rank* owner, uint32_t run, uint32_t offset) {
  const uint64_t held = runs_.holder(&runs_.run(run), rank)->load(std::memory_order_relaxed);
  Uneven& uneven = uneven_of(owner, run, holder_cut(held));
  uneven.held -= --uneven.handles[offset] == 0;
  --uneven.total;
  while (!uneven.handles.empty() && uneven.handles.back() == 0) uneven.handles.pop_back();
  const uint32_t size = static_cast<uint32_t>(uneven.handles.size());
  refresh_cut(rank, owner, run, uneven, std::min({holder_cut(held), offset, size}));
}

// The handle counts of a rank in a run, derived from its cut if there were none.
PrefixIndex::Uneven& PrefixIndex::uneven_of(Rank* owner, uint32_t run, uint32_t cut) {
  const auto [entry, is_new] = owner->uneven.try_emplace(run);
  if (is_new) {
    entry->second.handles.assign(cut, 1);
    entry->second.held = cut;
    entry->second.total = cut;
  }
  return entry->second;
}

// Sets the cut to the first gap in a rank's blocks of a run, which is not before `from`, and drops
// the counts if the cut alone is exact.
void PrefixIndex::refresh_cut(uint32_t rank, Rank* owner, uint32_t run, const Uneven& uneven,
                              uint32_t from) {
  Run& entry = runs_.run(run);
  if (uneven.total == 0) {
    owner->uneven.erase(run);
    runs_.remove_holder(&entry, rank);
    return;
  }
  const uint32_t size = static_cast<uint32_t>(uneven.handles.size());
  const bool whole = uneven.held == size;
  const bool even = whole && uneven.total == size;
  const auto begin = uneven.handles.begin();
  const uint32_t cut =
      whole ? size
            : static_cast<uint32_t>(std::find(begin + from, uneven.handles.end(), 0u) - begin);
  runs_.holder(&entry, rank)->store(holder_element(rank, !even, cut), std::memory_order_release);
  if (even) owner->uneven.erase(run);
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

uint64_t PrefixIndex::bytes() const {
  return sizeof *this + runs_.bytes() + table_bytes_ + ranks_.capacity() * sizeof ranks_[0];
}

// Bytes of chains and handles, excluding unused parts of pages.
uint64_t PrefixIndex::used_bytes() const { return runs_.used_bytes() + table_bytes_; }

// ---- the cap on memory ----

// Evicts the least recently matched runs of the rank with the most blocks, successors first, an
// eighth of its blocks at a time.
void PrefixIndex::shed() {
  const uint64_t enough = max_bytes_ - max_bytes_ / 20;
  while (used_bytes() > enough && memberships_ > 0) {
    uint32_t rank = 0;
    uint64_t most = 0;
    for (uint32_t i = 0; i < ranks_.size(); ++i) {
      if (ranks_[i] && ranks_[i]->table.size() > most) {
        most = ranks_[i]->table.size();
        rank = i;
      }
    }
    Rank* owner = ranks_[rank].get();
    std::unordered_map<uint32_t, uint64_t> handles_of_run;
    owner->table.for_each([&](uint64_t, uint32_t block) { ++handles_of_run[run_of(block)]; });
    std::vector<uint32_t> oldest;
    for (const auto& entry : handles_of_run) oldest.push_back(entry.first);
    const uint32_t now = static_cast<uint32_t>(runs_.epochs().current());
    std::sort(oldest.begin(), oldest.end(), [&](uint32_t a, uint32_t b) {
      const Run& x = runs_.run(a);
      const Run& y = runs_.run(b);
      const uint32_t x_age = now - x.last_match.load(std::memory_order_relaxed);
      const uint32_t y_age = now - y.last_match.load(std::memory_order_relaxed);
      if (x_age != y_age) return x_age > y_age;
      return x.depth != y.depth ? x.depth > y.depth : a < b;
    });
    uint64_t given_up = 0;
    for (const uint32_t number : oldest) {
      if (given_up * 8 >= most) break;
      given_up += handles_of_run[number];
      runs_.run(number).mark = 1;
      touched_.push_back(number);
      owner->uneven.erase(number);
      runs_.remove_holder(&runs_.run(number), rank);
    }
    std::vector<uint64_t> gone;
    owner->table.for_each([&](uint64_t handle, uint32_t block) {
      if (runs_.run(run_of(block)).mark != 0) gone.push_back(handle);
    });
    for (const uint32_t number : touched_) runs_.run(number).mark = 0;
    table_bytes_ -= owner->table.bytes();
    for (const uint64_t handle : gone) owner->table.erase(handle);
    owner->table.shrink();
    table_bytes_ += owner->table.bytes();
    memberships_ -= gone.size();
    evicted_ += gone.size();
    settle_all();
    finish();
  }
}

// ---- counts ----

uint64_t PrefixIndex::memberships(uint32_t rank) const {
  const Rank* owner = rank_of(rank);
  return owner == nullptr ? 0 : owner->table.size();
}

uint32_t PrefixIndex::known(uint32_t rank, const uint64_t* handles, uint32_t count,
                            uint64_t* found) const {
  const Rank* owner = rank_of(rank);
  if (owner == nullptr) return 0;
  for (uint32_t i = 0; i < std::min(count, kAhead); ++i) owner->table.prefetch_slot(handles[i]);
  uint32_t known = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (i + kAhead < count) owner->table.prefetch_slot(handles[i + kAhead]);
    if (owner->table.find(handles[i]) != kNoBlock) found[known++] = handles[i];
  }
  return known;
}

void PrefixIndex::list(uint32_t rank, uint64_t* handles, uint64_t* names) const {
  const Rank* owner = rank_of(rank);
  if (owner == nullptr) return;
  size_t at = 0;
  owner->table.for_each([&](uint64_t handle, uint32_t block) {
    handles[at] = handle;
    names[at++] = runs_.name(block);
  });
}

bool PrefixIndex::find(uint32_t rank, uint64_t handle, uint64_t* name) const {
  const Rank* owner = rank_of(rank);
  const uint32_t block = owner == nullptr ? kNoBlock : owner->table.find(handle);
  if (block == kNoBlock) return false;
  *name = runs_.name(block);
  return true;
}

IndexCounts PrefixIndex::counts() const {
  uint64_t distinct = 0;
  std::vector<bool> held;
  runs_.for_each_run([&](uint32_t number) {
    const Run& run = runs_.run(number);
    uint32_t cut = 0;
    bool uneven = false;
    runs_.for_each_holder(run, [&](uint64_t element) {
      cut = std::max(cut, holder_cut(element));
      uneven |= holder_uneven(element);
    });
    distinct += cut;
    if (!uneven) return;
    held.assign(run.length.load(std::memory_order_relaxed), false);
    runs_.for_each_holder(run, [&](uint64_t element) {
      if (!holder_uneven(element)) return;
      const Uneven& counts = ranks_[holder_rank(element)]->uneven.at(number);
      for (uint32_t i = cut; i < counts.handles.size(); ++i) {
        if (counts.handles[i] > 0) held[i] = true;
      }
    });
    distinct += static_cast<uint64_t>(std::count(held.begin(), held.end(), true));
  });
  return {memberships_, distinct, runs_.count(), bytes(), evicted_};
}

// ---- readers ----

uint32_t PrefixIndex::match(const uint64_t* names, uint32_t count, uint32_t rank_limit,
                            uint32_t* ranks, uint32_t* blocks) {
  // A rank's position in the answer; valid only if the answer's entry agrees.
  thread_local std::vector<uint32_t> places;
  if (places.size() < rank_limit) places.resize(rank_limit);
  uint32_t found = 0;
  uint32_t begin = 0;  // the first block of the run
  uint32_t parent = kNoBlock;
  const ReaderEpochs::Guard guard(&runs_.epochs());
  const uint32_t now = static_cast<uint32_t>(runs_.epochs().current());
  while (begin < count) {
    const uint32_t number = runs_.find(names[begin], parent);
    if (number == RunTable::kNone) break;
    Run& run = runs_.run(number);
    if (run.last_match.load(std::memory_order_relaxed) != now) {
      run.last_match.store(now, std::memory_order_relaxed);
    }
    const uint32_t agreed = runs_.agreement(run, 0, names + begin, count - begin);
    if (agreed == 0) break;
    bool goes_on = false;
    runs_.for_each_holder(run, [&](uint64_t element) {
      const uint32_t rank = holder_rank(element);
      const uint32_t cut = std::min(holder_cut(element), agreed);
      if (cut == 0 || rank >= rank_limit) return;
      const uint32_t place = places[rank];
      const bool known = place < found && ranks[place] == rank;
      if (begin == 0 && !known) {
        ranks[found] = rank;
        blocks[found] = cut;
        places[rank] = found++;
      } else if (known && blocks[place] == begin) {
        blocks[place] = begin + cut;
      } else {
        return;
      }
      goes_on |= cut == agreed;
    });
    if (!goes_on) break;
    begin += agreed;
    parent = runs_.block(run, agreed - 1);
  }
  return found;
}

}  // namespace kvasir
