// Release.

#include "pool_plan.cuh"

// Validates the batch, frees leases and reservations, advances the tick.
extern "C" __global__ void __launch_bounds__(1024, 1)
    kvasir_pool_release_plan(const kvasir::DevicePool* memory, const int32_t* leases,
                             uint32_t count, kvasir::PoolResult* result) {
  using namespace kvasir;
  struct Shared {
    uint64_t failure;
    uint64_t reserved;
  };
  KVASIR_SHARED(Shared, shared);
  const DevicePool& pool = *memory;
  PoolCounters& counters = *pool.counters;
  const uint64_t failure =
      validate(pool, leases, count, shared.failure,
               [](const int32_t&, const DeviceLease&) { return PoolError::kNone; });
  if (threadIdx.x == 0) {
    shared.reserved = 0;
  }
  __syncthreads();
  const uint32_t entries = failure == kNoFailure ? count : 0;
  for (uint32_t i = threadIdx.x; i < entries; i += blockDim.x) {
    DeviceLease& lease = pool.leases[leases[i]];
    lease.in_use = 0;
    atomic_add(&shared.reserved, lease.reserved_blocks);
    pool.free_leases[counters.free_leases + i] = leases[i];
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    pool.plan->entries = entries;
    pool.plan->first_tick = counters.tick;
    counters.tick += entries;
    counters.free_leases += entries;
    counters.reserved_blocks -= shared.reserved;
    if (counters.cached_blocks == 0) {
      counters.oldest_stale = 1;
    }
    *result = result_of(failure);
  }
}

// Drops the references. A thread block per lease, a thread per block. The thread that drops the
// last one is ordered after all stamps of the block and reads the greatest.
extern "C" __global__ void __launch_bounds__(1024, 1)
    kvasir_pool_release_drop(const kvasir::DevicePool* memory, const int32_t* leases) {
  using namespace kvasir;
  const DevicePool& pool = *memory;
  PoolCounters& counters = *pool.counters;
  for (uint32_t i = blockIdx.x; i < pool.plan->entries; i += gridDim.x) {
    const uint32_t blocks = pool.leases[leases[i]].blocks;
    const uint32_t* table = block_table(pool, leases[i]);
    for (uint32_t first = warp_in_block() * 32; first < blocks; first += blockDim.x) {
      const uint32_t depth = first + lane();
      bool cached = false;
      bool freed = false;
      uint32_t block = kNoBlock;
      if (depth < blocks) {
        block = table[depth];
        atomic_max(&pool.stamps[block], eviction_key(pool, pool.plan->first_tick + 1 + i, depth));
        __threadfence();
        const uint32_t held = atomicSub(&pool.holders[block], 1u);
        cached = held == (kNamedBit | 1);
        freed = held == 1;
        if (cached) {
          __threadfence();
          pool.evictable[block] = load_relaxed(&pool.stamps[block]);
        }
      }
      warp_count(&counters.active_blocks, cached || freed, -1);
      warp_count(&counters.cached_blocks, cached, 1);
      const uint32_t place = warp_append(&counters.free_blocks, freed);
      if (freed) {
        pool.free_stack[place] = block;
      }
    }
  }
}
