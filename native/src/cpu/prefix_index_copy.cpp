// Copies of a prefix index for a file.

#include <algorithm>

#include "kvasir/prefix_index.hpp"

namespace kvasir {

uint32_t PrefixIndex::begin_copy() {
  copied_.clear();
  runs_.for_each_run([&](uint32_t number) { copied_.push_back(number); });
  std::sort(copied_.begin(), copied_.end(), [&](uint32_t a, uint32_t b) {
    const uint32_t depth_of_a = runs_.run(a).depth;
    const uint32_t depth_of_b = runs_.run(b).depth;
    return depth_of_a != depth_of_b ? depth_of_a < depth_of_b : a < b;
  });
  for (uint32_t i = 0; i < copied_.size(); ++i) runs_.run(copied_[i]).mark = i;
  return static_cast<uint32_t>(copied_.size());
}

uint32_t PrefixIndex::copied_length(uint32_t run) const {
  return runs_.run(copied_[run]).length.load(std::memory_order_relaxed);
}

uint64_t PrefixIndex::place_of(uint32_t block) const {
  return static_cast<uint64_t>(runs_.run(run_of(block)).mark) << 32 | offset_of(block);
}

uint64_t PrefixIndex::copy_run(uint32_t number, uint64_t* names) const {
  const Run& run = runs_.run(copied_[number]);
  const uint32_t length = run.length.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < length; ++i) names[i] = runs_.name(runs_.block(run, i));
  return run.parent == kNoBlock ? UINT64_MAX : place_of(run.parent);
}

void PrefixIndex::copy_rank(uint32_t rank, uint64_t* handles, uint64_t* places) const {
  std::vector<std::pair<uint64_t, uint64_t>> pairs;
  ranks_[rank]->table.for_each(
      [&](uint64_t handle, uint32_t block) { pairs.emplace_back(place_of(block), handle); });
  std::sort(pairs.begin(), pairs.end());
  for (size_t i = 0; i < pairs.size(); ++i) {
    places[i] = pairs[i].first;
    handles[i] = pairs[i].second;
  }
}

void PrefixIndex::end_copy() {
  for (const uint32_t number : copied_) runs_.run(number).mark = 0;
  copied_.clear();
}

uint32_t PrefixIndex::block_at(uint64_t place) const {
  const uint64_t run = place >> 32;
  const uint32_t offset = static_cast<uint32_t>(place);
  if (run >= copied_.size()) return kNoBlock;
  const Run& found = runs_.run(copied_[run]);
  if (offset >= found.length.load(std::memory_order_relaxed)) return kNoBlock;
  return runs_.block(found, offset);
}

bool PrefixIndex::load_run(uint64_t parent, const uint64_t* names, uint32_t count) {
  if (count == 0) return false;
  uint32_t parent_block = kNoBlock;
  uint32_t depth = 0;
  if (parent != UINT64_MAX) {
    parent_block = block_at(parent);
    if (parent_block == kNoBlock) return false;
    depth = runs_.run(run_of(parent_block)).depth + offset_of(parent_block) + 1;
  }
  if (runs_.find(names[0], parent_block) != RunTable::kNone) return false;
  copied_.push_back(runs_.create(parent_block, depth, names, count));
  return true;
}

bool PrefixIndex::load_rank(uint32_t rank, const uint64_t* handles, const uint64_t* places,
                            uint32_t count) {
  Rank& owner = make_rank(rank);
  table_bytes_ -= owner.table.bytes();
  owner.table.reserve(count);
  table_bytes_ += owner.table.bytes();
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t block = block_at(places[i]);
    if (block == kNoBlock || owner.table.find(handles[i]) != kNoBlock) return false;
    const uint32_t number = run_of(block);
    if (runs_.holder(&runs_.run(number), rank) == nullptr) {
      runs_.add_holder(&runs_.run(number), rank);
    }
    owner.table.bind(handles[i], block);
    ++memberships_;
    hold_one(rank, &owner, number, offset_of(block));
  }
  return true;
}

void PrefixIndex::end_load() {
  touched_ = std::move(copied_);
  copied_.clear();
  settle_all();
  runs_.reclaim();
}

}  // namespace kvasir
