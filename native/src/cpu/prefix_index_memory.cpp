// The memory of a prefix index: its size, and the cap on it.

#include <algorithm>

#include "kvasir/prefix_index.hpp"

namespace kvasir {

uint64_t PrefixIndex::bytes() const {
  return sizeof *this + runs_.bytes() + table_bytes_ + ranks_.capacity() * sizeof ranks_[0];
}

// Bytes of chains and handles, excluding unused parts of pages.
uint64_t PrefixIndex::used_bytes() const { return runs_.used_bytes() + table_bytes_; }

// Evicts the least recently matched runs of the rank with the most blocks, successors first, an
// eighth of its blocks at a time.
void PrefixIndex::shed() {
  const uint64_t enough = max_bytes_ - max_bytes_ / 20;
  while (used_bytes() > enough && memberships_ > 0) {
    const uint32_t rank = largest_rank();
    mark_oldest(rank);
    erase_marked(ranks_[rank].get());
    settle_all();
    finish();
  }
}

uint32_t PrefixIndex::largest_rank() const {
  uint32_t rank = 0;
  uint64_t most = 0;
  for (uint32_t i = 0; i < ranks_.size(); ++i) {
    if (ranks_[i] && ranks_[i]->table.size() > most) {
      most = ranks_[i]->table.size();
      rank = i;
    }
  }
  return rank;
}

// Marks the oldest runs of a rank, which then holds nothing in them, until they have an eighth of
// its blocks. Fills touched_.
void PrefixIndex::mark_oldest(uint32_t rank) {
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
    if (given_up * 8 >= owner->table.size()) break;
    given_up += handles_of_run[number];
    runs_.run(number).mark = 1;
    touched_.push_back(number);
    owner->uneven.erase(number);
    runs_.remove_holder(&runs_.run(number), rank);
  }
}

// Erases a rank's handles of blocks in marked runs, and the marks.
void PrefixIndex::erase_marked(Rank* owner) {
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
}

}  // namespace kvasir
