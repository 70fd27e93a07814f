// Extend.

#include "pool_plan.cuh"

namespace kvasir {

// Validates the batch, grants entries covered by a lease's own reservation and, of the rest, the
// longest prefix of the batch that fits, and reserves blocks. Until its table has grown, a granted
// entry's `missing_blocks` is -1 - the offset of its new blocks.
struct ExtendPlanScratch {
  uint64_t failure;
  BlockSums sums;
};

KVASIR_DEVICE void extend_plan(const DevicePool& pool, ExtendRequest* requests, uint32_t count,
                               PoolResult* result, ExtendPlanScratch& shared) {
  PoolCounters& counters = *pool.counters;
  PoolPlan& plan = *pool.plan;
  const uint32_t most = pool.shape.max_blocks_per_lease;
  const uint64_t failure = validate(
      pool, requests, count, shared.failure,
      [most](const ExtendRequest& request, const DeviceLease& lease) {
        return request.blocks > most - lease.blocks ? PoolError::kTooManyBlocks : PoolError::kNone;
      });
  const uint32_t entries = failure == kNoFailure ? count : 0;
  const int64_t available = available_blocks(counters);
  int64_t wanted = 0;  // by the entries before, beyond their reservations
  int64_t booked = 0;
  int64_t granted = 0;
  int64_t unreserved = 0;
  for (uint32_t first = 0; first < entries; first += blockDim.x) {
    const uint32_t i = first + threadIdx.x;
    const bool exists = i < entries;
    const int64_t blocks = exists ? requests[i].blocks : 0;
    const int64_t reserved = exists ? pool.leases[requests[i].lease].reserved_blocks : 0;
    const int64_t beyond = blocks > reserved ? blocks - reserved : 0;
    int64_t total = 0;
    const int64_t up_to = wanted + block_prefix_sum(shared.sums, beyond, &total);
    wanted += total;
    const bool grants = exists && (beyond == 0 || up_to <= available);
    const int64_t taken = grants ? blocks : 0;
    const int64_t offset = booked - taken + block_prefix_sum(shared.sums, taken, &total);
    booked += total;
    if (exists) {
      requests[i].missing_blocks = grants ? -1 - offset : up_to - available;
    }
    block_prefix_sum(shared.sums, grants ? blocks - beyond : 0, &total);
    unreserved += total;
    block_prefix_sum(shared.sums, grants ? 1 : 0, &total);
    granted += total;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    plan.entries = entries;
    plan.first_tick = counters.tick;
    plan_allocation(pool, static_cast<uint32_t>(booked));
    counters.tick += static_cast<uint64_t>(granted);
    counters.reserved_blocks -= static_cast<uint64_t>(unreserved);
    *result = result_of(failure);
  }
}

// Appends to the tables of the granted leases. A warp per entry, a lane per new block.
KVASIR_DEVICE void extend_grow(const DevicePool& pool, ExtendRequest* requests) {
  for (uint32_t i = warp_in_grid(); i < pool.plan->entries; i += warps_in_grid()) {
    const ExtendRequest request = requests[i];
    DeviceLease& lease = pool.leases[request.lease];
    const uint32_t blocks = lease.blocks;
    __syncwarp();
    if (request.missing_blocks >= 0) {
      continue;
    }
    take_blocks(pool, block_table(pool, request.lease), blocks, blocks + request.blocks,
                static_cast<uint32_t>(-1 - request.missing_blocks), lane(), 32);
    if (lane() == 0) {
      const uint32_t reserved = lease.reserved_blocks;
      lease.reserved_blocks = request.blocks < reserved ? reserved - request.blocks : 0;
      lease.blocks = blocks + request.blocks;
      requests[i].missing_blocks = 0;
    }
  }
}

}  // namespace kvasir

extern "C" __global__ void __launch_bounds__(1024, 1)
    kvasir_pool_extend_plan(const kvasir::DevicePool* memory, kvasir::ExtendRequest* requests,
                            uint32_t count, kvasir::PoolResult* result) {
  KVASIR_SHARED(kvasir::ExtendPlanScratch, shared);
  kvasir::extend_plan(*memory, requests, count, result, shared);
}

extern "C" __global__ void __launch_bounds__(1024, 1)
    kvasir_pool_extend_grow(const kvasir::DevicePool* memory, kvasir::ExtendRequest* requests) {
  kvasir::extend_grow(*memory, requests);
}
