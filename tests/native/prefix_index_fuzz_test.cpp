// Prefix indexes that load damaged files: every call returns soon, stays within its memory, and
// either refuses the damage or leaves an index that can be matched, changed and copied.

#include <vector>

#include "check.hpp"
#include "fuzz.hpp"
#include "kvasir/prefix_index.hpp"

namespace kvasir {
namespace {

constexpr uint32_t kRanks = 4;

struct SavedRun {
  uint64_t parent;
  std::vector<uint64_t> names;
};

struct SavedRank {
  std::vector<uint64_t> handles;
  std::vector<uint64_t> places;
};

// The parts of an index, as a file has them.
struct Saved {
  std::vector<SavedRun> runs;
  std::vector<SavedRank> ranks;
};

std::vector<uint64_t> chain(TestRandom& random) {
  std::vector<uint64_t> hashes(1 + random.below(20));
  const uint64_t family = random.below(5);
  const uint32_t fork = random.below(20);
  for (uint32_t i = 0; i < hashes.size(); ++i) {
    hashes[i] =
        TestRandom(family * 1000 + i + (i >= fork ? 100 * (1 + random.below(2)) : 0)).next();
  }
  return hashes;
}

void change(PrefixIndex& index, TestRandom& random, uint32_t steps) {
  for (uint32_t i = 0; i < steps; ++i) {
    const uint32_t rank = random.below(kRanks);
    const std::vector<uint64_t> hashes = chain(random);
    const auto count = static_cast<uint32_t>(hashes.size());
    switch (random.below(8)) {
      case 0:
        index.clear(rank);
        break;
      case 1:
      case 2:
        index.remove(rank, hashes.data(), count);
        break;
      default:
        index.store(rank, true, 0, 0, hashes.data(), nullptr, hashes.data(), count);
    }
    uint32_t ranks[kRanks];
    uint32_t blocks[kRanks];
    const uint32_t found = index.match(hashes.data(), count, kRanks, ranks, blocks);
    CHECK(found <= kRanks);
    for (uint32_t j = 0; j < found; ++j) CHECK(ranks[j] < kRanks && blocks[j] <= count);
  }
}

Saved save(PrefixIndex& index) {
  Saved saved;
  const uint32_t runs = index.begin_copy();
  for (uint32_t run = 0; run < runs; ++run) {
    SavedRun copied{0, std::vector<uint64_t>(index.copied_length(run))};
    copied.parent = index.copy_run(run, copied.names.data());
    saved.runs.push_back(copied);
  }
  for (uint32_t rank = 0; rank < kRanks; ++rank) {
    const size_t count = index.memberships(rank);
    SavedRank copied{std::vector<uint64_t>(count), std::vector<uint64_t>(count)};
    if (count > 0) index.copy_rank(rank, copied.handles.data(), copied.places.data());
    saved.ranks.push_back(copied);
  }
  index.end_copy();
  return saved;
}

void damage(std::vector<uint64_t>& words, TestRandom& random) {
  if (words.empty()) return;
  switch (random.below(4)) {
    case 0:
      words.resize(random.below(static_cast<uint32_t>(words.size())));
      break;
    case 1:
      words.push_back(words[random.below(static_cast<uint32_t>(words.size()))]);
      break;
    default: {
      uint64_t& word = words[random.below(static_cast<uint32_t>(words.size()))];
      word = odd_word(random, word);
    }
  }
}

void damage(Saved& saved, TestRandom& random) {
  for (uint32_t times = 1 + random.below(3); times > 0; --times) {
    SavedRank& rank = saved.ranks[random.below(kRanks)];
    const uint32_t choice = random.below(5);
    if (choice < 2 && !saved.runs.empty()) {
      SavedRun& run = saved.runs[random.below(static_cast<uint32_t>(saved.runs.size()))];
      if (choice == 0) {
        run.parent = odd_word(random, run.parent);
      } else {
        damage(run.names, random);
      }
    } else if (choice == 2) {
      damage(rank.handles, random);
    } else {
      damage(rank.places, random);
    }
    // The file's reader refuses arrays of different lengths.
    const size_t count = std::min(rank.handles.size(), rank.places.size());
    rank.handles.resize(count);
    rank.places.resize(count);
  }
}

bool load(PrefixIndex& index, const Saved& saved) {
  for (const SavedRun& run : saved.runs) {
    const auto count = static_cast<uint32_t>(run.names.size());
    if (!index.load_run(run.parent, run.names.data(), count)) return false;
  }
  for (uint32_t rank = 0; rank < kRanks; ++rank) {
    const SavedRank& held = saved.ranks[rank];
    const auto count = static_cast<uint32_t>(held.handles.size());
    if (!index.load_rank(rank, held.handles.data(), held.places.data(), count)) return false;
  }
  index.end_load();
  return true;
}

// Returns how many damaged files were refused.
uint64_t load_damaged(uint64_t seed) {
  TestRandom random(seed);
  PrefixIndex original(HashFormat::kKvasir, UINT64_MAX);
  change(original, random, 60);
  const Saved saved = save(original);
  {
    PrefixIndex copy(HashFormat::kKvasir, UINT64_MAX);
    CHECK(load(copy, saved));
    for (uint32_t rank = 0; rank < kRanks; ++rank) {
      CHECK(copy.memberships(rank) == original.memberships(rank));
    }
  }
  Saved damaged = saved;
  damage(damaged, random);
  PrefixIndex index(HashFormat::kKvasir, 1 << 20);
  if (!load(index, damaged)) return 1;
  change(index, random, 60);
  save(index);
  return 0;
}

}  // namespace
}  // namespace kvasir

int main() { return kvasir::fuzz("prefix_index_fuzz_test", kvasir::load_damaged); }
