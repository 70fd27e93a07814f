// Release.

#include "pool_plan.cuh"

namespace kvasir {

struct ReleasePlanScratch {
  uint64_t failure;
  uint64_t reserved;
  uint64_t blocks;
  BlockSums sums;
};

// Moves the valid entries of the queue to its start. O(entries).
KVASIR_DEVICE void compact_queue(const DevicePool& pool, BlockSums& sums) {
  PoolCounters& counters = *pool.counters;
  const uint32_t begin = counters.queue_begin;
  const uint32_t end = counters.queue_end;
  uint32_t kept = 0;
  for (uint32_t first = begin; first < end; first += blockDim.x) {
    const uint32_t i = first + threadIdx.x;
    const uint64_t key = i < end ? pool.queue_keys[i] : 0;
    const uint32_t block = i < end ? pool.queue_blocks[i] : 0;
    const bool valid = i < end && pool.evictable[block] == key;
    int64_t total = 0;
    const int64_t place = kept + block_prefix_sum(sums, valid ? 1 : 0, &total);
    if (valid) {  // all threads have read their entries, none of which is before this place
      pool.queue_keys[place - 1] = key;
      pool.queue_blocks[place - 1] = block;
    }
    kept += static_cast<uint32_t>(total);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    counters.queue_begin = 0;
    counters.queue_end = kept;
  }
}

// Validates the batch, frees leases and reservations, advances the tick, and makes room in the
// queue for the blocks.

KVASIR_DEVICE void release_plan(const DevicePool& pool, const int32_t* leases, uint32_t count,
                                PoolResult* result, ReleasePlanScratch& shared) {
  PoolCounters& counters = *pool.counters;
  const uint64_t failure =
      validate(pool, leases, count, shared.failure,
               [](const int32_t&, const DeviceLease&) { return PoolError::kNone; });
  if (threadIdx.x == 0) {
    shared.reserved = 0;
    shared.blocks = 0;
  }
  __syncthreads();
  const uint32_t entries = failure == kNoFailure ? count : 0;
  for (uint32_t i = threadIdx.x; i < entries; i += blockDim.x) {
    DeviceLease& lease = pool.leases[leases[i]];
    lease.in_use = 0;
    atomic_add(&shared.reserved, lease.reserved_blocks);
    atomic_add(&shared.blocks, lease.blocks);
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
  // No more blocks become evictable than there are, however many leases share them.
  const uint64_t capacity = pool.shape.capacity_blocks;
  const uint64_t more = shared.blocks < capacity ? shared.blocks : capacity;
  if (counters.queue_end + more > 2 * capacity) {
    compact_queue(pool, shared.sums);
  }
}

// Drops the references. A team per lease, a thread per block. The thread that drops the last one
// is ordered after all stamps of the block and reads the greatest.
template <typename Team>
KVASIR_DEVICE void release_drop(const DevicePool& pool, const int32_t* leases) {
  PoolCounters& counters = *pool.counters;
  const uint64_t first_tick = pool.plan->first_tick;
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
        atomic_max(&pool.stamps[block], eviction_key(pool, first_tick + 1 + i, depth));
        fence_device();
        const uint32_t held = atomicSub(&pool.holders[block], 1u);
        cached = held == (kNamedBit | 1);
        freed = held == 1;
        if (cached) {
          fence_device();
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

// Appends the blocks that became evictable to the queue, in the order of their keys: lease by
// lease, the deepest first. A block that several leases held has the key of the last of them. One
// thread block.
KVASIR_DEVICE void release_queue(const DevicePool& pool, const int32_t* leases, BlockSums& sums) {
  PoolCounters& counters = *pool.counters;
  const PoolPlan& plan = *pool.plan;
  const uint32_t begin = counters.queue_end;
  uint32_t end = begin;
  for (uint32_t i = 0; i < plan.entries; i++) {
    const uint32_t blocks = pool.leases[leases[i]].blocks;
    const uint32_t* table = block_table(pool, leases[i]);
    for (uint32_t first = 0; first < blocks; first += blockDim.x) {
      const uint32_t above = first + threadIdx.x;
      uint32_t block = kNoBlock;
      uint64_t key = 0;
      if (above < blocks) {
        const uint32_t depth = blocks - 1 - above;
        block = table[depth];
        key = eviction_key(pool, plan.first_tick + 1 + i, depth);
      }
      const bool queued = block != kNoBlock && pool.evictable[block] == key;
      int64_t total = 0;
      const int64_t place = end + block_prefix_sum(sums, queued ? 1 : 0, &total);
      if (queued) {
        pool.queue_keys[place - 1] = key;
        pool.queue_blocks[place - 1] = block;
      }
      end += static_cast<uint32_t>(total);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    counters.queue_end = end;
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

extern "C" __global__ void __launch_bounds__(1024, 1)
    kvasir_pool_release_queue(const kvasir::DevicePool* memory, const int32_t* leases) {
  KVASIR_SHARED(kvasir::BlockSums, sums);
  kvasir::release_queue(*memory, leases, sums);
}
