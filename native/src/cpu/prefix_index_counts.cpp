// What a prefix index holds: its counts, and the handles of a rank.

#include <algorithm>

#include "kvasir/prefix_index.hpp"

namespace kvasir {

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

}  // namespace kvasir
