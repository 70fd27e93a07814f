// Compares the device pool's kernels with the CPU pool: random histories must give the same
// results, events, occupancy, probes and sharing of blocks, regardless of thread scheduling.
//
// Written over a Device, which allocates memory and launches kernels. ShimDevice runs them on the
// host, CudaDevice on a GPU. The kernels and one of the two must be included before this header.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "device_pool_driver.hpp"
#include "directory_check.hpp"
#include "history_coverage.hpp"
#include "kvasir/block_pool.hpp"
#include "prompt.hpp"

namespace kvasir {

// A prompt in memory that both sides read.
struct PlacedPrompt {
  const uint32_t* tokens;
  const uint64_t* hashes;
  uint32_t blocks;
};

struct Running {
  int32_t lease;
  const PlacedPrompt* prompt;
  uint32_t blocks;
  uint32_t committed;
};

// Both pools, driven by the same calls.
template <typename Device>
class History {
 public:
  History(Device& device, uint64_t seed, const PoolShape& shape, uint32_t bits, bool crowded)
      : random_(seed),
        shape_(shape),
        cpu_(shape),
        memory_(device),
        device_(device, shape, seed * 7919) {
    const uint32_t most = shape.max_blocks_per_lease - 4;
    std::vector<Prompt> prompts;
    for (int i = 0; i < 24; i++) {
      const Prompt* start = i == 0 ? nullptr : &prompts[random_.below(static_cast<uint32_t>(i))];
      prompts.push_back(
          make_prompt(random_, start, 1 + random_.below(most), shape.tokens_per_block, bits));
    }
    for (Prompt& prompt : prompts) {
      if (crowded) {
        crowd(prompt.hashes);
      }
    }
    place(prompts);
    memory_.begin_watching(device_.page(), *device_.ring(), shape_.event_capacity);
    compare();
  }
  History(const History&) = delete;
  History& operator=(const History&) = delete;
  ~History() {
    memory_.end_watching();
    memory_.free_host(tokens_);
    memory_.free_host(hashes_);
  }

  void step() {
    watch_names();
    switch (random_.below(12)) {
      case 0:
      case 1:
      case 2:
        lease();
        break;
      case 3:
      case 4:
        extend();
        break;
      case 5:
      case 6:
      case 7:
        commit();
        break;
      case 8:
        if (random_.below(6) == 0) {
          clear();
        }
        break;
      case 9:
        refuse_wrong_calls();
        break;
      default:
        release(choose(5));
        break;
    }
    compare();
  }

  // Requests come and go.
  void turn_over() {
    device_.watch(nullptr, 0);
    lease();
    commit();
    release(choose(5));
    compare();
  }

  // Requests with one prompt come and go together.
  void turn_over_together() {
    device_.watch(nullptr, 0);
    lease(&prompts_[random_.below(size(prompts_))]);
    extend();
    commit();
    release(size(running_));
    if (random_.below(6) == 0) {
      clear();
    }
    compare();
  }

  Seen seen() {
    seen_.evicted = read_occupancy(cpu_.page()).evicted_blocks;
    seen_.collisions = device_.collisions();
    return seen_;
  }

 private:
  static void check_same(PoolResult a, PoolResult b) {
    CHECK(a.error == b.error && a.entry == b.entry);
  }

  template <typename T>
  static uint32_t size(const std::vector<T>& v) {
    return static_cast<uint32_t>(v.size());
  }

  // All hashes are contiguous, in the order of the prompts, as a probe expects.
  void place(const std::vector<Prompt>& prompts) {
    size_t blocks = 0;
    for (const Prompt& prompt : prompts) {
      blocks += prompt.hashes.size();
    }
    hashes_ = static_cast<uint64_t*>(memory_.host_memory(blocks * sizeof(uint64_t)));
    tokens_ = static_cast<uint32_t*>(
        memory_.host_memory(blocks * shape_.tokens_per_block * sizeof(uint32_t)));
    for (const Prompt& prompt : prompts) {
      const uint32_t first = offsets_.back();
      uint32_t* tokens = tokens_ + size_t{first} * shape_.tokens_per_block;
      std::copy(prompt.tokens.begin(), prompt.tokens.end(), tokens);
      std::copy(prompt.hashes.begin(), prompt.hashes.end(), hashes_ + first);
      prompts_.push_back({tokens, hashes_ + first, size(prompt.hashes)});
      offsets_.push_back(first + size(prompt.hashes));
    }
  }

  // Selects some of the running requests at random and moves them to the front of `running_`.
  uint32_t choose(uint32_t most) {
    const uint32_t wanted = 1 + random_.below(most);
    uint32_t chosen = 0;
    for (; chosen < wanted && chosen < size(running_); chosen++) {
      std::swap(running_[chosen], running_[chosen + random_.below(size(running_) - chosen)]);
    }
    return chosen;
  }

  // Watches the hashes of one running request; only clear may remove them in this step.
  void watch_names() {
    device_.watch(nullptr, 0);
    if (running_.empty() || random_.below(2) == 0 || !memory_.filled()) {
      return;
    }
    const Running& running = running_[random_.below(size(running_))];
    const DevicePool& pool = device_.snapshot();
    const uint64_t* hashes = running.prompt->hashes;
    uint32_t named = 0;
    for (; named < running.committed; named++) {
      const uint32_t block = block_table(pool, running.lease)[named];
      if ((pool.holders[block] & kNamedBit) == 0 || pool.names[block].hash != hashes[named]) {
        break;
      }
    }
    device_.watch(hashes, named);
    seen_.watched += named;
  }

  void lease(const PlacedPrompt* only = nullptr) {
    std::vector<LeaseRequest> requests(1 + random_.below(6));
    std::vector<const PlacedPrompt*> wanted;
    const PlacedPrompt* common = &prompts_[random_.below(size(prompts_))];
    for (LeaseRequest& request : requests) {
      const PlacedPrompt& prompt = only != nullptr ? *only
                                   : random_.below(3) == 0
                                       ? *common
                                       : prompts_[random_.below(size(prompts_))];
      const uint32_t full = prompt.blocks;
      const uint64_t scope = random_.below(8) == 0 ? 1 : 0;
      request = {prompt.tokens,
                 prompt.hashes,
                 scope * 5,
                 0,
                 static_cast<uint32_t>(scope),
                 random_.below(4) == 0 ? random_.below(full + 1) : full,
                 full + random_.below(3),
                 random_.below(4),
                 0,
                 0,
                 0};
      wanted.push_back(&prompt);
    }
    std::vector<LeaseRequest> twins = requests;
    check_same(cpu_.lease(requests.data(), size(requests)),
               device_.lease(twins.data(), size(twins)));
    for (size_t i = 0; i < requests.size(); i++) {
      CHECK(requests[i].lease == twins[i].lease);
      CHECK(requests[i].matched_blocks == twins[i].matched_blocks);
      CHECK(requests[i].missing_blocks == twins[i].missing_blocks);
      seen_.matched += requests[i].matched_blocks;
      if (requests[i].lease == kRefused) {
        seen_.refused++;
      } else {
        running_.push_back(
            {requests[i].lease, wanted[i], requests[i].blocks, requests[i].matched_blocks});
      }
    }
  }

  void extend() {
    std::vector<ExtendRequest> requests;
    const uint32_t chosen = choose(4);
    for (uint32_t i = 0; i < chosen; i++) {
      const uint32_t room = shape_.max_blocks_per_lease - running_[i].blocks;
      requests.push_back({running_[i].lease, random_.below(room < 5 ? room + 1 : 6), 0});
    }
    std::vector<ExtendRequest> twins = requests;
    check_same(cpu_.extend(requests.data(), chosen), device_.extend(twins.data(), chosen));
    for (uint32_t i = 0; i < chosen; i++) {
      CHECK(requests[i].missing_blocks == twins[i].missing_blocks);
      seen_.refused += requests[i].missing_blocks != 0 ? 1 : 0;
      running_[i].blocks += requests[i].missing_blocks == 0 ? requests[i].blocks : 0;
    }
  }

  void commit() {
    std::vector<CommitRequest> requests;
    const uint32_t chosen = choose(8);
    for (uint32_t i = 0; i < chosen; i++) {
      Running& running = running_[i];
      const uint32_t left = running.prompt->blocks - running.committed;
      const uint32_t to =
          running.committed + (random_.below(3) == 0 ? random_.below(left + 1) : left);
      requests.push_back({running.prompt->tokens +
                              static_cast<size_t>(running.committed) * shape_.tokens_per_block,
                          running.prompt->hashes + running.committed, running.lease,
                          running.committed, to, 0});
      running.committed = to;
    }
    std::vector<CommitRequest> twins = requests;
    check_same(cpu_.commit(requests.data(), chosen), device_.commit(twins.data(), chosen));
  }

  void release(uint32_t chosen) {
    std::vector<int32_t> leases;
    for (uint32_t i = 0; i < chosen; i++) {
      leases.push_back(running_[i].lease);
    }
    check_same(cpu_.release(leases.data(), chosen), device_.release(leases.data(), chosen));
    running_.erase(running_.begin(), running_.begin() + chosen);
  }

  void clear() {
    cpu_.clear();
    device_.watch(nullptr, 0);
    device_.clear();
    seen_.cleared++;
  }

  void refuse_wrong_calls() {
    const uint32_t chosen = choose(3);
    std::vector<int32_t> leases;
    std::vector<CommitRequest> commits;
    std::vector<ExtendRequest> extensions;
    for (uint32_t i = 0; i < chosen; i++) {
      const Running& running = running_[i];
      leases.push_back(running.lease);
      const uint32_t from = running.committed + (i == 1 ? 1 : 0);
      commits.push_back({nullptr, nullptr, running.lease, from, running.blocks + 1, 0});
      extensions.push_back({running.lease, i == 1 ? shape_.max_blocks_per_lease : 1, 0});
    }
    const int32_t wrong = random_.below(2) == 0 ? 1000 : -1;
    leases.push_back(leases.empty() || random_.below(2) == 0 ? wrong : leases[0]);
    commits.push_back({nullptr, nullptr, leases.back(), 0, 0, 0});
    extensions.push_back({leases.back(), 0, 0});
    check_same(cpu_.release(leases.data(), size(leases)),
               device_.release(leases.data(), size(leases)));
    check_same(cpu_.commit(commits.data(), size(commits)),
               device_.commit(commits.data(), size(commits)));
    check_same(cpu_.extend(extensions.data(), size(extensions)),
               device_.extend(extensions.data(), size(extensions)));
    const PlacedPrompt& prompt = prompts_[random_.below(size(prompts_))];
    const uint32_t full = prompt.blocks;
    LeaseRequest requests[3] = {};
    for (LeaseRequest& request : requests) {
      request.tokens = prompt.tokens;
      request.hashes = prompt.hashes;
      request.matchable_blocks = full;
      request.blocks = full;
    }
    requests[1 + random_.below(2)].blocks = shape_.max_blocks_per_lease + 1;
    check_same(cpu_.lease(requests, 3), device_.lease(requests, 3));
  }

  void compare() {
    const Occupancy a = read_occupancy(cpu_.page());
    const Occupancy b = read_occupancy(device_.page());
    CHECK(std::memcmp(&a, &b, sizeof a) == 0);
    compare_events();
    compare_probes();
    if (memory_.filled()) {
      check_same_directory(device_.snapshot(), cpu_.directory(), shape_.capacity_blocks);
      compare_sharing();
      check_eviction_keys();
    }
  }

  void compare_events() {
    std::vector<BlockEvent> events(shape_.event_capacity + 1);
    const uint32_t drained = cpu_.events().drain(events.data(), size(events));
    const uint64_t next = device_.next_event();
    CHECK(next - seen_events_ >= drained);
    seen_.lost_events += next - seen_events_ - drained;
    std::vector<BlockEvent> twins(events.size());
    CHECK(device_.read_events(&seen_events_, twins.data(), size(twins)) == drained);
    for (uint32_t i = 0; i < drained; i++) {
      CHECK(events[i].sequence == next - drained + i);
      CHECK(std::memcmp(&events[i], &twins[i], sizeof twins[i]) == 0);
    }
    CHECK(seen_events_ == next);
  }

  void compare_probes() {
    if (random_.below(4) != 0) {
      return;
    }
    const Directory* cpus[] = {&cpu_.directory(), &cpu_.directory()};
    std::vector<uint32_t> matched(2 * prompts_.size());
    probe(cpus, 2, hashes_, offsets_.data(), size(prompts_), matched.data());
    CHECK(matched == device_.probe(2, hashes_, offsets_.data(), size(prompts_), false));
    CHECK(matched == device_.probe(2, hashes_, offsets_.data(), size(prompts_), true));
  }

  // Block numbers may differ, but leases that share a block in one pool share it in the other.
  void compare_sharing() {
    std::map<uint32_t, uint32_t> there;
    std::map<uint32_t, uint32_t> back;
    uint64_t places = 0;
    for (const Running& running : running_) {
      uint32_t length = 0;
      const uint32_t* table = cpu_.block_table(running.lease, &length);
      CHECK(table != nullptr && length == running.blocks);
      CHECK(device_.snapshot().leases[running.lease].blocks == length);
      const uint32_t* twin = block_table(device_.snapshot(), running.lease);
      for (uint32_t i = 0; i < length; i++) {
        CHECK(there.emplace(table[i], twin[i]).first->second == twin[i]);
        CHECK(back.emplace(twin[i], table[i]).first->second == table[i]);
      }
      for (uint32_t i = running.committed; i < length; i++) {
        CHECK(device_.snapshot().holders[twin[i]] == 1);  // its own, unnamed
      }
      places += length;
    }
    seen_.shared += places - there.size();
  }

  // An evictable block has the greatest key of those that held it.
  void check_eviction_keys() {
    const DevicePool& pool = device_.snapshot();
    for (uint32_t block = 0; block < shape_.capacity_blocks; block++) {
      const uint64_t key = pool.evictable[block];
      CHECK(key == kNotEvictable || key == pool.stamps[block]);
    }
  }

  TestRandom random_;
  const PoolShape shape_;
  BlockPool cpu_;
  Device& memory_;
  DevicePoolDriver<Device> device_;
  uint32_t* tokens_ = nullptr;
  uint64_t* hashes_ = nullptr;
  std::vector<uint32_t> offsets_{0};
  std::vector<PlacedPrompt> prompts_;
  std::vector<Running> running_;
  uint64_t seen_events_ = 0;
  Seen seen_{};
};

}  // namespace kvasir
