// The prompts of the benchmark, and how they get into a pool.
// The kernels must be included before this header.
#pragma once

#include <memory>

#include "benchmark_pool.cuh"

namespace kvasir {

constexpr uint32_t kPools = 8;
constexpr uint32_t kCapacity = 1u << 20;
constexpr uint32_t kTokens = 16;
constexpr uint32_t kResidents = 1024;  // prompts that fill a pool
constexpr uint32_t kResidentBlocks = 1000;
constexpr uint32_t kSharedBlocks = 16;  // of a system prompt, in every second resident
constexpr uint32_t kRequestBlocks = 256;
constexpr PoolShape kShape{kCapacity, kTokens, 256, 1024, 1u << 16};

inline uint64_t mix(uint64_t a, uint64_t b, uint64_t c) {
  return TestRandom(TestRandom(TestRandom(a).next() ^ b).next() ^ c).next();
}

// The sequence hash of a block of a pool's resident prompt.
inline uint64_t resident_name(uint32_t pool, uint32_t resident, uint32_t depth) {
  const bool shared = resident % 2 == 0 && depth < kSharedBlocks;
  return shared ? mix(kPools, resident % 32, depth) : mix(pool, resident, depth);
}

inline std::vector<uint64_t> fresh_names(size_t count, uint64_t seed) {
  TestRandom random(seed);
  std::vector<uint64_t> names;
  for (size_t i = 0; i < count; i++) {
    names.push_back(random.next());
  }
  return names;
}

// A request whose prompt has `blocks` named blocks; all tokens are zero.
inline LeaseRequest request_of(const uint32_t* tokens, const uint64_t* names, uint32_t blocks) {
  LeaseRequest request{};
  request.tokens = tokens;
  request.hashes = names;
  request.matchable_blocks = blocks;
  request.blocks = blocks;
  return request;
}

inline CommitRequest commit_of(const LeaseRequest& answer) {
  const uint32_t from = answer.matched_blocks;
  return {answer.tokens + size_t{from} * kTokens,
          answer.hashes + from,
          answer.lease,
          from,
          answer.matchable_blocks,
          0};
}

// Hashes, and tokens that are all zero, in the memory of the pool that reads them.
class Prompts {
 public:
  Prompts(std::vector<uint64_t> names, uint32_t most_blocks, bool on_device)
      : host_names_(std::move(names)), host_tokens_(size_t{most_blocks} * kTokens) {
    if (on_device) {
      names_.reset(new DeviceArray<uint64_t>(host_names_));
      tokens_.reset(new DeviceArray<uint32_t>(host_tokens_));
    }
  }
  const uint64_t* names() const { return names_ ? names_->data() : host_names_.data(); }
  const uint32_t* tokens() const { return tokens_ ? tokens_->data() : host_tokens_.data(); }

 private:
  const std::vector<uint64_t> host_names_;
  const std::vector<uint32_t> host_tokens_;
  std::unique_ptr<DeviceArray<uint64_t>> names_;
  std::unique_ptr<DeviceArray<uint32_t>> tokens_;
};

// Runs prompts of `blocks` hashes through a pool, `batch` at a time, so that it caches them.
template <typename Pool>
void fill(Pool& pool, uint32_t number, bool on_device) {
  constexpr uint32_t kBatch = 32;
  std::vector<uint64_t> names;
  for (uint32_t resident = 0; resident < kResidents; resident++) {
    for (uint32_t depth = 0; depth < kResidentBlocks; depth++) {
      names.push_back(resident_name(number, resident, depth));
    }
  }
  const Prompts prompts(std::move(names), kResidentBlocks, on_device);
  for (uint32_t first = 0; first < kResidents; first += kBatch) {
    std::vector<LeaseRequest> requests;
    for (uint32_t i = 0; i < kBatch; i++) {
      requests.push_back(request_of(prompts.tokens(),
                                    prompts.names() + size_t{first + i} * kResidentBlocks,
                                    kResidentBlocks));
    }
    pool.lease(requests);
    pool.finish();
    std::vector<CommitRequest> commits;
    std::vector<int32_t> leases;
    for (uint32_t i = 0; i < kBatch; i++) {
      CHECK(pool.answer(i).lease != kRefused);
      commits.push_back(commit_of(pool.answer(i)));
      leases.push_back(pool.answer(i).lease);
    }
    pool.commit(commits);
    pool.release(leases);
    pool.finish();
  }
}

}  // namespace kvasir
