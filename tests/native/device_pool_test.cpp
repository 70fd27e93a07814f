// Compares the device pool's kernels, run on the host by the shim, with the CPU pool.

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
  ShimDevice device;
  commit_all_blocks(device);
  const Seen all = run_histories(device, 24, steps);
  all.print();
  CHECK(all.refused > 0 && all.matched > 0 && all.evicted > 0 && all.collisions > 0);
  CHECK(all.shared > 0 && all.cleared > 0 && all.lost_events > 0 && all.watched > 0);
  std::puts("device_pool_test: ok");
  return 0;
}
