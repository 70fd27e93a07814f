// Look-ups beside the writer, and the memory that is left when everything has gone. What an index
// must answer is tested from Java, beside a naive one.

#include "kvasir/prefix_index.hpp"

#include "check.hpp"
#include "prefix_index_races.hpp"

namespace kvasir {
namespace {

void readers_never_see_what_no_rank_holds() {
  PrefixIndex index(HashFormat::kKvasir, UINT64_MAX);
  IndexRace<PrefixIndex, KvasirBlockHash>(&index, g_seed).run(20000, 2);
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
      CHECK(index.store(chain % 5, true, 0, 0, handles.data(), locals.data(),
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
  index.store(0, true, 0, 0, handles.data(), locals.data(), 100);
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
    index.store(static_cast<uint32_t>(chain % 2), true, 0, 0, handles.data(), locals.data(), 100);
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
  kvasir::memory_returns_when_blocks_go();
  kvasir::the_cap_holds_and_spares_what_is_matched();
  return 0;
}
