// Release.

#include "pool_plan.cuh"

namespace kvasir {

// Validates the batch, frees leases and reservations, advances the tick.
struct ReleasePlanScratch {
  uint64_t failure;
  uint64_t reserved;
};

KVASIR_DEVICE void release_plan(const DevicePool& pool, const int32_t* leases, uint32_t count,
                                PoolResult* result, ReleasePlanScratch& shared) {
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
template <typename Team>
KVASIR_DEVICE void release_drop(const DevicePool& pool, const int32_t* leases) {
  PoolCounters& counters = *pool.counters;
  for (uint32_t i = Team::first(); i < pool.plan->entries; i += Team::step()) {
    const uint32_t blocks = pool.leases[leases[i]].blocks;
    const uint32_t* table = block_table(pool, leases[i]);
    for (uint32_t first = Team::warp() * 32; first < blocks; first += Team::threads()) {
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

}  // namespace kvasir

extern "C" __global__ void __launch_bounds__(1024, 1)
    kvasir_pool_release_plan(const kvasir::DevicePool* memory, const int32_t* leases,
                             uint32_t count, kvasir::PoolResult* result) {
  KVASIR_SHARED(kvasir::ReleasePlanScratch, shared);
  kvasir::release_plan(*memory, leases, count, result, shared);
}

extern "C" __global__ void __launch_bounds__(1024, 1)
    kvasir_pool_release_drop(const kvasir::DevicePool* memory, const int32_t* leases) {
  kvasir::release_drop<kvasir::BlockTeam>(*memory, leases);
}
