// Random histories of one pool: after every step its counts add up and its events, replayed into an
// empty map, predict every probe. BlockPoolContract.java compares it with an oracle; this test runs
// the same code under the sanitizers.

#include "kvasir/block_pool.hpp"

#include <unordered_map>
#include <vector>

#include "check.hpp"
#include "prompt.hpp"

namespace kvasir {
namespace {

constexpr uint32_t kTokensPerBlock = 4;

struct Running {
  int32_t lease;
  const Prompt* prompt;
  uint32_t blocks;
  uint32_t committed;
};

class History {
 public:
  History(uint64_t seed, uint32_t capacity, uint32_t bits)
      : random_(seed), pool_({capacity, kTokensPerBlock, 12, 40, 1u << 14}) {
    for (int i = 0; i < 40; i++) {
      const Prompt* start = i == 0 ? nullptr : &prompts_[random_.below(static_cast<uint32_t>(i))];
      prompts_.push_back(make_prompt(random_, start, 1 + random_.below(20), kTokensPerBlock, bits));
    }
  }

  void step() {
    switch (random_.below(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
        lease();
        break;
      case 4:
      case 5:
        extend();
        break;
      case 6:
      case 7:
      case 8:
      case 9:
        commit();
        break;
      case 10:
        if (random_.below(8) == 0) {
          pool_.clear();
        }
        break;
      case 11:
        refuse_wrong_calls();
        break;
      default:
        release();
        break;
    }
    check_invariants();
  }

 private:
  void lease() {
    std::vector<LeaseRequest> requests(1 + random_.below(4));
    std::vector<const Prompt*> wanted;
    for (LeaseRequest& request : requests) {
      const Prompt& prompt = prompts_[random_.below(static_cast<uint32_t>(prompts_.size()))];
      const uint32_t blocks = static_cast<uint32_t>(prompt.hashes.size()) + random_.below(3);
      const uint32_t matchable = random_.below(static_cast<uint32_t>(prompt.hashes.size()) + 1);
      request = {prompt.tokens.data(),
                 prompt.hashes.data(),
                 0,
                 0,
                 0,
                 matchable,
                 blocks,
                 random_.below(4),
                 0,
                 0,
                 0};
      wanted.push_back(&prompt);
    }
    CHECK(pool_.lease(requests.data(), static_cast<uint32_t>(requests.size())).error ==
          PoolError::kNone);
    bool refused = false;
    for (size_t i = 0; i < requests.size(); i++) {
      refused = refused || requests[i].lease == kRefused;
      CHECK(refused == (requests[i].lease == kRefused));
      if (!refused) {
        CHECK(requests[i].matched_blocks <= requests[i].matchable_blocks);
        running_.push_back(
            {requests[i].lease, wanted[i], requests[i].blocks, requests[i].matched_blocks});
      }
    }
  }

  void extend() {
    if (running_.empty()) {
      return;
    }
    Running& running = running_[random_.below(static_cast<uint32_t>(running_.size()))];
    ExtendRequest request{running.lease, 1 + random_.below(4), 0};
    if (running.blocks + request.blocks > pool_.shape().max_blocks_per_lease) {
      return;
    }
    CHECK(pool_.extend(&request, 1).error == PoolError::kNone);
    if (request.missing_blocks == 0) {
      running.blocks += request.blocks;
    }
  }

  void commit() {
    if (running_.empty()) {
      return;
    }
    Running& running = running_[random_.below(static_cast<uint32_t>(running_.size()))];
    const uint32_t full = static_cast<uint32_t>(running.prompt->hashes.size());
    if (running.committed >= full) {
      return;
    }
    const uint32_t to = running.committed + 1 + random_.below(full - running.committed);
    const CommitRequest request{&running.prompt->tokens[running.committed * kTokensPerBlock],
                                &running.prompt->hashes[running.committed],
                                running.lease,
                                running.committed,
                                to,
                                0};
    CHECK(pool_.commit(&request, 1).error == PoolError::kNone);
    running.committed = to;
  }

  void release() {
    if (running_.empty()) {
      return;
    }
    const uint32_t index = random_.below(static_cast<uint32_t>(running_.size()));
    CHECK(pool_.release(&running_[index].lease, 1).error == PoolError::kNone);
    running_[index] = running_.back();
    running_.pop_back();
  }

  void refuse_wrong_calls() {
    const int32_t unknown = 1000;
    CHECK(pool_.release(&unknown, 1).error == PoolError::kUnknownLease);
    if (!running_.empty()) {
      const int32_t twice[] = {running_[0].lease, running_[0].lease};
      CHECK(pool_.release(twice, 2).error == PoolError::kLeaseGivenTwice);
      const CommitRequest wrong{
          nullptr, nullptr, running_[0].lease, running_[0].committed + 1, running_[0].committed + 2,
          0};
      CHECK(pool_.commit(&wrong, 1).error == PoolError::kWrongFromBlock);
    }
    LeaseRequest large{nullptr, nullptr, 0, 0, 0, 0, 41, 0, 0, 0, 0};
    CHECK(pool_.lease(&large, 1).error == PoolError::kTooManyBlocks);
  }

  void check_invariants() {
    BlockEvent events[64];
    for (uint32_t count; (count = pool_.events().drain(events, 64)) > 0;) {
      for (uint32_t i = 0; i < count; i++) {
        CHECK(events[i].sequence == next_event_++);
        if (events[i].kind == BlockEventKind::kStored) {
          CHECK(events[i].depth == 0 || named_.count(events[i].parent_hash) == 1);
          CHECK(named_.emplace(events[i].hash, events[i].parent_hash).second);
        } else if (events[i].kind == BlockEventKind::kRemoved) {
          CHECK(named_.erase(events[i].hash) == 1);
        } else {
          named_.clear();
        }
      }
    }
    const Occupancy occupancy = read_occupancy(pool_.page());
    CHECK(occupancy.free_blocks + occupancy.cached_blocks + occupancy.active_blocks ==
          occupancy.capacity_blocks);
    CHECK(occupancy.reserved_blocks <= occupancy.free_blocks + occupancy.cached_blocks);
    std::vector<bool> held(occupancy.capacity_blocks);
    uint64_t active = 0;
    for (const Running& running : running_) {
      uint32_t length = 0;
      const uint32_t* table = pool_.block_table(running.lease, &length);
      CHECK(table != nullptr && length == running.blocks);
      for (uint32_t i = 0; i < length; i++) {
        active += held[table[i]] ? 0 : 1;
        held[table[i]] = true;
      }
    }
    CHECK(active == occupancy.active_blocks);
    const Directory* directory = &pool_.directory();
    for (const Prompt& prompt : prompts_) {
      uint32_t depth = 0;
      while (depth < prompt.hashes.size() && named_.count(prompt.hashes[depth]) == 1) {
        depth++;
      }
      const uint32_t offsets[] = {0, static_cast<uint32_t>(prompt.hashes.size())};
      uint32_t matched = 0;
      probe(&directory, 1, prompt.hashes.data(), offsets, 1, &matched);
      CHECK(matched == depth);
    }
  }

  TestRandom random_;
  BlockPool pool_;
  std::vector<Prompt> prompts_;
  std::vector<Running> running_;
  std::unordered_map<uint64_t, uint64_t> named_;
  uint64_t next_event_ = 0;
};

}  // namespace
}  // namespace kvasir

int main() {
  for (uint64_t seed = 1; seed <= 24; seed++) {
    g_seed = seed;
    const uint32_t capacity = seed % 3 == 0 ? 17 : seed % 3 == 1 ? 60 : 300;
    kvasir::History history(seed, capacity, seed % 2 == 0 ? 2 : 32);
    for (int step = 0; step < 1500; step++) {
      history.step();
    }
  }
  std::puts("block_pool_test: ok");
  return 0;
}
