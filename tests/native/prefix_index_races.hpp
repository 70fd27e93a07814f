// Look-ups in a prefix index concurrent with its writer, for any index type.
#pragma once

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "check.hpp"

// All chains share their first blocks; some share more than others. One rank keeps a chain
// permanently. The others hold each chain up to their own length and drop it again, down to where
// it diverges from another one. Runs are shortened and extended with other hashes, freed
// and recreated, and lists of holders grow and shrink. A rank that is credited with more blocks of
// a chain than it ever holds was read from a run that changed its meaning during the look-up.
template <typename Index, typename Format>
class IndexRace {
 public:
  static constexpr uint32_t kBlocks = 60;
  static constexpr uint32_t kRanks = 6;

  IndexRace(Index* index, uint64_t seed) : index_(*index), seed_(seed) {
    for (uint32_t chain = 0; chain < kChains; ++chain) {
      const Format format({});
      uint64_t parent = format.root();
      for (uint32_t i = 0; i < kBlocks; ++i) {
        parent = format.chain(i == 0, parent, local(chain, i));
        names_[chain].push_back(parent);
      }
    }
    store(0, kKept, kBlocks);
  }

  // Makes `rounds` changes concurrently with `readers` threads.
  void run(uint32_t rounds, uint32_t readers) {
    std::vector<std::thread> threads;
    std::atomic<bool> stop{false};
    for (uint32_t reader = 0; reader < readers; ++reader) {
      threads.emplace_back([this, reader, &stop] { read(seed_ + reader, &stop); });
    }
    TestRandom random(seed_);
    for (uint32_t round = 0; round < rounds; ++round) {
      const uint32_t rank = 1 + random.below(kRanks - 1);
      const uint32_t chain = random.below(kKept);
      const uint32_t end = longest(rank, chain);
      store(rank, chain, end);
      const uint32_t keep[] = {kFork, kFork, kFork, kCommon, 0};
      remove(rank, chain, keep[random.below(5)], end);
      if (random.below(16) == 0) index_.clear(rank);
    }
    stop = true;
    for (std::thread& thread : threads) thread.join();
  }

 private:
  static constexpr uint32_t kCommon = 10;  // blocks shared by all chains
  static constexpr uint32_t kFork = 20;    // chains 0, 1 and 2 diverge here; so do 3, 4, 5
  static constexpr uint32_t kKept = 6;
  static constexpr uint32_t kChains = 7;

  static uint64_t local(uint32_t chain, uint32_t block) {
    if (block < kCommon) return block + 1;
    return block < kFork ? 1000 * (chain / 3 + 1) + block : 10000 * (chain + 1) + block;
  }

  static uint32_t longest(uint32_t rank, uint32_t chain) { return 25 + 8 * ((rank + chain) % 4); }

  static uint64_t handle(uint32_t chain, uint32_t block) { return local(chain, block); }

  void store(uint32_t rank, uint32_t chain, uint32_t end) {
    std::vector<uint64_t> handles;
    std::vector<uint64_t> locals;
    for (uint32_t i = 0; i < end; ++i) {
      handles.push_back(handle(chain, i));
      locals.push_back(local(chain, i));
    }
    index_.store(rank, true, 0, 0, handles.data(), locals.data(), nullptr, end);
  }

  void remove(uint32_t rank, uint32_t chain, uint32_t from, uint32_t end) {
    std::vector<uint64_t> handles;
    for (uint32_t i = end; i-- > from;) handles.push_back(handle(chain, i));
    index_.remove(rank, handles.data(), end - from);
  }

  void read(uint64_t seed, const std::atomic<bool>* stop) {
    TestRandom random(seed);
    uint32_t ranks[kRanks];
    uint32_t blocks[kRanks];
    while (!stop->load(std::memory_order_relaxed)) {
      const uint32_t chain = random.below(kChains);
      const uint32_t found = index_.match(names_[chain].data(), kBlocks, kRanks, ranks, blocks);
      bool kept = false;
      for (uint32_t i = 0; i < found; ++i) {
        CHECK(ranks[i] < kRanks && std::count(ranks, ranks + found, ranks[i]) == 1);
        if (ranks[i] == 0) {
          kept = true;
          CHECK(blocks[i] == (chain == kKept ? kBlocks : kCommon));
        } else {
          CHECK(blocks[i] > 0 &&
                blocks[i] <= (chain == kKept ? kCommon : longest(ranks[i], chain)));
        }
      }
      CHECK(kept);
    }
  }

  Index& index_;
  const uint64_t seed_;
  std::vector<uint64_t> names_[kChains];
};
