// Compares the device pool's kernels, run on the host by the shim, with the CPU pool.

#include <unistd.h>

#include "shim_device.hpp"

namespace kvasir {
namespace {

// A batch that commits every block of the pool, half of them twice, which gives the maximum number
// of ordinals. Their array is at the end of the pool's memory, so the address sanitizer detects an
// overflow.
void commit_all_blocks(ShimDevice& device) {
  constexpr uint32_t kLeases = 4;
  constexpr uint32_t kLength = 16;
  const PoolShape shape{kLeases * kLength, 2, kLeases, kLength, kLeases * kLength};
  DevicePoolDriver<ShimDevice> pool(device, shape, 1);
  TestRandom random(1);
  std::vector<Prompt> prompts;
  std::vector<LeaseRequest> leases;
  for (uint32_t i = 0; i < kLeases; i++) {
    prompts.push_back(i % 2 == 0 ? make_prompt(random, nullptr, kLength, shape.tokens_per_block, 32)
                                 : prompts.back());
    LeaseRequest lease{};
    lease.blocks = kLength;
    leases.push_back(lease);
  }
  CHECK(pool.lease(leases.data(), kLeases).error == PoolError::kNone);
  std::vector<CommitRequest> commits;
  for (uint32_t i = 0; i < kLeases; i++) {
    commits.push_back(
        {prompts[i].tokens.data(), prompts[i].hashes.data(), leases[i].lease, 0, kLength, 0});
  }
  CHECK(pool.commit(commits.data(), kLeases).error == PoolError::kNone);
  const Occupancy occupancy = read_occupancy(pool.page());
  CHECK(occupancy.active_blocks == shape.capacity_blocks / 2);
  CHECK(occupancy.free_blocks == shape.capacity_blocks / 2);
  CHECK(pool.collisions() == 0);
}

// Device memory whose directory a test damages.
class DamagedDevice : public ShimDevice {
 public:
  void* device_memory(uint64_t bytes) {
    void* memory = ShimDevice::device_memory(bytes);
    memory_ = memory_ == nullptr ? memory : memory_;  // the pool is allocated first
    return memory;
  }
  const DevicePool& pool() const { return *static_cast<const DevicePool*>(memory_); }
  void lose_keys() {
    const Directory& directory = pool().directory;
    for (uint64_t bucket = 0; bucket < directory.bucket_count; bucket++) {
      directory.buckets[bucket] = Bucket{};
    }
  }

 private:
  void* memory_ = nullptr;
};

// A pool of 16 blocks, 4 of which are cached with the names of a prompt.
class HalfCachedPool {
 public:
  HalfCachedPool() : pool_(device_, {16, 2, 4, 16, 16}, 1) {
    LeaseRequest lease = request(4);
    CHECK(pool_.lease(&lease, 1).error == PoolError::kNone);
    CommitRequest commit{prompt_.tokens.data(), prompt_.hashes.data(), lease.lease, 0, 4, 0};
    CHECK(pool_.commit(&commit, 1).error == PoolError::kNone);
    CHECK(pool_.release(&lease.lease, 1).error == PoolError::kNone);
  }

  LeaseRequest request(uint32_t blocks) const {
    LeaseRequest request{};
    request.tokens = prompt_.tokens.data();
    request.hashes = prompt_.hashes.data();
    request.matchable_blocks = 4;
    request.blocks = blocks;
    return request;
  }

  // Between the launches of a lease of more blocks than there are.
  void refuse_after_losing_keys() {
    LeaseRequest lease = request(16);
    lease.reserve_blocks = 1;
    PoolResult result{};
    device_.launch(kvasir_pool_lease_match, 1, 32, &device_.pool(), &lease, 1u);
    CHECK(lease.matched_blocks == 4);
    device_.lose_keys();
    device_.launch(kvasir_pool_lease_plan, 1, 32, &device_.pool(), &lease, 1u, &result);
    device_.launch(kvasir_pool_lease_unpin, 1, 32, &device_.pool(), &lease, 1u);
    CHECK(lease.lease == kRefused && lease.matched_blocks == 0);
  }

  PoolResult evict_after_losing_keys() {
    device_.lose_keys();
    LeaseRequest lease = request(16);
    const PoolResult result = pool_.lease(&lease, 1);
    CHECK(lease.matched_blocks == 0 && lease.lease != kRefused);
    return result;
  }

  const DevicePool& memory() const { return device_.pool(); }

 private:
  TestRandom random_{1};
  const Prompt prompt_ = make_prompt(random_, nullptr, 4, 2, 32);
  DamagedDevice device_;
  DevicePoolDriver<DamagedDevice> pool_;
};

// A name that damaged memory has lost costs its block, and no write outside the arrays.
void lost_names_are_not_written_through() {
  HalfCachedPool pool;
  pool.refuse_after_losing_keys();
  HalfCachedPool other;
  CHECK(other.evict_after_losing_keys().error == PoolError::kNone);
  for (uint64_t bucket = 0; bucket < other.memory().directory.bucket_count; bucket++) {
    CHECK(other.memory().directory.buckets[bucket].passed == 0);
  }
}

}  // namespace
}  // namespace kvasir

int main() {
  using namespace kvasir;
  // Switching stacks is slow under AddressSanitizer.
#if defined(__SANITIZE_ADDRESS__)
  const int steps = 16;
#else
  const int steps = 150;
#endif
  alarm(250);  // a kernel that does not end fails
  lost_names_are_not_written_through();
  ShimDevice device;
  commit_all_blocks(device);
  const Seen all = run_histories(device, 24, steps);
  all.print();
  CHECK(all.refused > 0 && all.matched > 0 && all.evicted > 0 && all.collisions > 0);
  CHECK(all.shared > 0 && all.cleared > 0 && all.lost_events > 0 && all.watched > 0);
  std::puts("device_pool_test: ok");
  return 0;
}
