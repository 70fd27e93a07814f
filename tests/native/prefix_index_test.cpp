// Look-ups concurrent with the writer, local versus sequence hashes, and the memory that remains
// after all blocks are removed. The Java tests compare the answers with a naive index.

#include "kvasir/prefix_index.hpp"

#include <map>

#include "check.hpp"
#include "prefix_index_races.hpp"

namespace kvasir {
namespace {

void readers_never_see_what_no_rank_holds() {
  PrefixIndex index(HashFormat::kKvasir, UINT64_MAX);
  IndexRace<PrefixIndex, KvasirBlockHash>(&index, g_seed).run(20000, 2);
}

// One random history for several indexes: the first takes local hashes, the second sequence hashes,
// the third a mix. All must give the same answers. There are few local hashes and handles, so that
// chains share long prefixes, handles change their blocks, and parents are often unknown.
class SameHistory {
 public:
  explicit SameHistory(uint64_t seed) : random_(seed) {}

  void run(int changes) {
    for (int i = 0; i < changes; ++i) {
      const uint32_t rank = random_.below(kRanks);
      const uint32_t kind = random_.below(100);
      if (kind == 0) {
        for (PrefixIndex* index : indexes_) index->clear(rank);
        sequence_of_[rank].clear();
      } else if (kind < 35) {
        remove(rank);
      } else {
        store(rank);
      }
      compare();
    }
  }

  // Ranks in all answers so far.
  uint64_t matched() const { return matched_; }

 private:
  static constexpr uint32_t kRanks = 4;
  static constexpr uint32_t kHandles = 200;

  uint64_t random_handle() { return 1 + random_.below(kHandles); }

  void store(uint32_t rank) {
    const bool root = random_.below(4) == 0;
    const uint64_t parent_handle = random_handle();
    const uint64_t root_hash = random_.below(8) == 0 ? 77 : 0;
    const auto held = sequence_of_[rank].find(parent_handle);
    const uint64_t parent = held == sequence_of_[rank].end() ? random_.next() : held->second;
    const KvasirBlockHash format({});
    uint64_t sequence = root ? (root_hash != 0 ? root_hash : format.root()) : parent;
    std::vector<uint64_t> handles(random_.below(12));
    std::vector<uint64_t> locals;
    std::vector<uint64_t> sequences;
    for (uint64_t& handle : handles) {
      handle = random_handle();
      locals.push_back(1 + random_.below(3));
      sequences.push_back(sequence = format.chain(false, sequence, locals.back()));
    }
    const bool local_for_mixed = random_.below(2) == 0;
    ChangeStatus statuses[3];
    for (int i = 0; i < 3; ++i) {
      const bool local = i == 0 || (i == 2 && local_for_mixed);
      statuses[i] = indexes_[i]->store(
          rank, root, parent_handle, root_hash, handles.data(), local ? locals.data() : nullptr,
          local ? nullptr : sequences.data(), static_cast<uint32_t>(handles.size()));
    }
    CHECK(statuses[0] == statuses[1] && statuses[0] == statuses[2]);
    if (statuses[0] != ChangeStatus::kApplied) return;
    for (size_t i = 0; i < handles.size(); ++i) sequence_of_[rank][handles[i]] = sequences[i];
    last_stored_ = sequences;
    if (root) prompts_.push_back(sequences);
  }

  void remove(uint32_t rank) {
    std::vector<uint64_t> handles(random_.below(8));
    for (uint64_t& handle : handles) {
      handle = random_handle();
      sequence_of_[rank].erase(handle);
    }
    const uint32_t count = static_cast<uint32_t>(handles.size());
    const ChangeStatus status = local_.remove(rank, handles.data(), count);
    CHECK(sequence_.remove(rank, handles.data(), count) == status);
    CHECK(mixed_.remove(rank, handles.data(), count) == status);
  }

  // A prompt that was stored from its first block, sometimes extended by the blocks stored last.
  void compare() {
    if (prompts_.empty()) return;
    std::vector<uint64_t> prompt = prompts_[random_.below(static_cast<uint32_t>(prompts_.size()))];
    if (random_.below(2) == 0)
      prompt.insert(prompt.end(), last_stored_.begin(), last_stored_.end());
    uint32_t ranks[3][kRanks];
    uint32_t blocks[3][kRanks];
    uint32_t found[3];
    for (int i = 0; i < 3; ++i) {
      found[i] = indexes_[i]->match(prompt.data(), static_cast<uint32_t>(prompt.size()), kRanks,
                                    ranks[i], blocks[i]);
      CHECK(found[i] == found[0] && std::equal(ranks[i], ranks[i] + found[i], ranks[0]) &&
            std::equal(blocks[i], blocks[i] + found[i], blocks[0]));
    }
    matched_ += found[0];
    const IndexCounts counts = local_.counts();
    for (PrefixIndex* index : indexes_) {
      const IndexCounts others = index->counts();
      CHECK(others.memberships == counts.memberships && others.runs == counts.runs &&
            others.distinct_blocks == counts.distinct_blocks && others.bytes == counts.bytes);
    }
  }

  TestRandom random_;
  PrefixIndex local_{HashFormat::kKvasir, UINT64_MAX};
  PrefixIndex sequence_{HashFormat::kTrtllmV1, UINT64_MAX};  // does not chain
  PrefixIndex mixed_{HashFormat::kKvasir, UINT64_MAX};
  PrefixIndex* const indexes_[3] = {&local_, &sequence_, &mixed_};
  std::map<uint64_t, uint64_t> sequence_of_[kRanks];  // by handle
  std::vector<std::vector<uint64_t>> prompts_;
  std::vector<uint64_t> last_stored_;
  uint64_t matched_ = 0;
};

void sequence_hashes_answer_as_local_hashes_do() {
  uint64_t matched = 0;
  for (int history = 0; history < 20; ++history, ++g_seed) {
    SameHistory same(g_seed);
    same.run(2000);
    matched += same.matched();
  }
  CHECK(matched > 10000);
}

void memory_returns_when_blocks_go() {
  PrefixIndex index(HashFormat::kKvasir, UINT64_MAX);
  const uint64_t empty = index.counts().bytes;
  TestRandom random(g_seed);
  uint64_t full = 0;
  for (int round = 0; round < 3; ++round) {
    std::vector<std::vector<uint64_t>> stored;
    for (uint32_t chain = 0; chain < 2000; ++chain) {
      std::vector<uint64_t> handles(1 + random.below(200));
      std::vector<uint64_t> locals;
      for (uint64_t& handle : handles) {
        handle = random.next();
        locals.push_back(random.next());
      }
      CHECK(index.store(chain % 5, true, 0, 0, handles.data(), locals.data(), nullptr,
                        static_cast<uint32_t>(handles.size())) == ChangeStatus::kApplied);
      stored.push_back(handles);
    }
    CHECK(full == 0 || index.counts().bytes < full + full / 4);
    full = index.counts().bytes;
    for (uint32_t chain = 0; chain < stored.size(); ++chain) {
      CHECK(index.remove(chain % 5, stored[chain].data(),
                         static_cast<uint32_t>(stored[chain].size())) == ChangeStatus::kApplied);
    }
    const IndexCounts left = index.counts();
    CHECK(left.memberships == 0 && left.distinct_blocks == 0 && left.runs == 0);
    CHECK(left.bytes < empty + full / 20);
  }
}

void the_cap_holds_and_spares_what_is_matched() {
  constexpr uint64_t kCap = 2 << 20;
  PrefixIndex index(HashFormat::kKvasir, kCap);
  TestRandom random(g_seed);
  std::vector<uint64_t> matched(100);
  std::vector<uint64_t> handles(100);
  std::vector<uint64_t> locals(100);
  for (uint32_t i = 0; i < 100; ++i) handles[i] = locals[i] = i + 1;
  index.store(0, true, 0, 0, handles.data(), locals.data(), nullptr, 100);
  const KvasirBlockHash format({});
  uint64_t parent = format.root();
  for (uint32_t i = 0; i < 100; ++i) matched[i] = parent = format.chain(i == 0, parent, i + 1);
  uint32_t ranks[2];
  uint32_t blocks[2];
  for (int chain = 0; chain < 5000; ++chain) {
    for (uint32_t i = 0; i < 100; ++i) {
      handles[i] = random.next();
      locals[i] = random.next();
    }
    index.store(static_cast<uint32_t>(chain % 2), true, 0, 0, handles.data(), locals.data(),
                nullptr, 100);
    if (index.is_over()) index.shed();
    CHECK(index.match(matched.data(), 100, 2, ranks, blocks) == 1 && blocks[0] == 100);
    CHECK(index.counts().bytes < kCap + kCap / 2);
  }
  CHECK(index.counts().evicted_memberships > 300000);
  CHECK(index.counts().memberships + index.counts().evicted_memberships == 500100);
}

}  // namespace
}  // namespace kvasir

int main() {
  g_seed = 20;
  kvasir::readers_never_see_what_no_rank_holds();
  kvasir::sequence_hashes_answer_as_local_hashes_do();
  kvasir::memory_returns_when_blocks_go();
  kvasir::the_cap_holds_and_spares_what_is_matched();
  return 0;
}
