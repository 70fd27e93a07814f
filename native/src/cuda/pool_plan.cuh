// Shared code of the planning kernels. They run as one thread block, O(entries / threads) each.
#pragma once

#include "device_primitives.cuh"

namespace kvasir {

KVASIR_DEVICE uint64_t failure_of(PoolError error, uint32_t entry) {
  return static_cast<uint64_t>(entry) << 32 | static_cast<uint32_t>(error);
}

KVASIR_DEVICE PoolResult result_of(uint64_t failure) {
  if (failure == kNoFailure) {
    return {PoolError::kNone, 0};
  }
  return {static_cast<PoolError>(static_cast<int32_t>(failure & 0xffffffffu)),
          static_cast<uint32_t>(failure >> 32)};
}

KVASIR_DEVICE int32_t lease_of(int32_t lease) { return lease; }
template <typename Entry>
KVASIR_DEVICE int32_t lease_of(const Entry& entry) {
  return entry.lease;
}

KVASIR_DEVICE DeviceLease* find_lease(const DevicePool& pool, int32_t lease) {
  if (lease < 0 || static_cast<uint32_t>(lease) >= pool.shape.max_leases ||
      pool.leases[lease].in_use == 0) {
    return nullptr;
  }
  return &pool.leases[lease];
}

// Validates a batch before any change: every lease is known, occurs once, and passes. Each lease is
// marked with the lowest of its entries, so that later ones are detected as duplicates. Returns the
// lowest failing entry's failure, or kNoFailure, to all threads. `failure` is shared; a barrier
// must precede its next use.
template <typename Entry, typename Check>
KVASIR_DEVICE uint64_t validate(const DevicePool& pool, const Entry* entries, uint32_t count,
                                uint64_t& failure, Check check) {
  if (threadIdx.x == 0) {
    failure = kNoFailure;
  }
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    DeviceLease* lease = find_lease(pool, lease_of(entries[i]));
    if (lease != nullptr) {
      atomicMin(&lease->mark, i);
    }
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    const DeviceLease* lease = find_lease(pool, lease_of(entries[i]));
    const PoolError error = lease == nullptr                  ? PoolError::kUnknownLease
                            : load_relaxed(&lease->mark) != i ? PoolError::kLeaseGivenTwice
                                                              : check(entries[i], *lease);
    if (error != PoolError::kNone) {
      atomic_min(&failure, failure_of(error, i));
    }
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    DeviceLease* lease = find_lease(pool, lease_of(entries[i]));
    if (lease != nullptr) {
      store_relaxed(&lease->mark, kUnmarked);  // several entries may have it
    }
  }
  return failure;
}

// Reserves `wanted` free blocks, for which later launches evict. Called by one thread.
KVASIR_DEVICE void plan_allocation(const DevicePool& pool, uint32_t wanted) {
  PoolCounters& counters = *pool.counters;
  PoolPlan& plan = *pool.plan;
  const uint32_t free = counters.free_blocks;
  plan.victims = wanted > free ? wanted - free : 0;
  plan.stack_base = free;
  plan.stack_top = free + plan.victims;
  plan.first_event = counters.next_event;
  if (plan.victims > 0) {
    reserve_events(pool, plan.victims);
  }
  counters.free_blocks = plan.stack_top - wanted;
  counters.active_blocks += wanted;
  counters.cached_blocks -= plan.victims;
  counters.evicted_blocks += plan.victims;
  counters.next_event += plan.victims;
}

// Puts new unnamed blocks into a lease's table from block `from` on, with `step` threads in
// parallel, the caller being one of them; `offset` blocks were reserved before.
KVASIR_DEVICE void take_blocks(const DevicePool& pool, uint32_t* table, uint32_t from, uint32_t to,
                               uint32_t offset, uint32_t thread, uint32_t step) {
  const uint32_t top = pool.plan->stack_top - 1 - offset;
  for (uint32_t depth = from + thread; depth < to; depth += step) {
    const uint32_t block = pool.free_stack[top - (depth - from)];
    pool.holders[block] = 1;
    table[depth] = block;
  }
}

}  // namespace kvasir
