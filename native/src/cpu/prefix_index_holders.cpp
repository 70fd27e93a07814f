// The cut of a rank in a run, and the handles of each block where the cut alone is not exact.

#include <algorithm>

#include "kvasir/prefix_index.hpp"

namespace kvasir {

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

}  // namespace kvasir
