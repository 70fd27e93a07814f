// Evicts the shortfall computed by a planning kernel. The queue has every evictable block in the
// order of the keys, because each release appends its blocks in order. An entry is valid while it
// has the block's key.

#include "pool_plan.cuh"

namespace kvasir {

KVASIR_DEVICE bool is_valid(const DevicePool& pool, uint32_t position) {
  return pool.evictable[pool.queue_blocks[position]] == pool.queue_keys[position];
}

// Lists the victims: the first valid entries of the queue. One thread block; O(victims + entries
// between them that are no longer valid).
KVASIR_DEVICE void list_victims(const DevicePool& pool, BlockSums& sums) {
  PoolCounters& counters = *pool.counters;
  const uint32_t wanted = pool.plan->victims;
  const uint32_t begin = counters.queue_begin;
  const uint32_t end = counters.queue_end;
  uint32_t found = 0;
  for (uint32_t first = begin; first < end && found < wanted; first += blockDim.x) {
    const uint32_t i = first + threadIdx.x;
    const bool valid = i < end && is_valid(pool, i);
    int64_t total = 0;
    const int64_t place = found + block_prefix_sum(sums, valid ? 1 : 0, &total);
    if (valid && place <= wanted) {
      pool.victims[place - 1] = pool.queue_blocks[i];
      if (place == wanted) {
        counters.queue_begin = i + 1;
      }
    }
    found += static_cast<uint32_t>(total);
  }
}

// Takes the victims: removes them from the directory, pushes them onto the free stack and writes
// their events. A thread per victim. One that the directory does not have, which only damaged
// memory explains, is taken all the same.
KVASIR_DEVICE void take_victims(const DevicePool& pool) {
  const PoolPlan& plan = *pool.plan;
  if (plan.victims == 0) {
    return;
  }
  fence_system();  // before the events
  for (uint64_t i = thread_in_grid(); i < plan.victims; i += threads_in_grid()) {
    const uint32_t block = pool.victims[i];
    const uint64_t hash = pool.names[block].hash;
    pool.evictable[block] = kNotEvictable;
    pool.holders[block] = 0;
    pool.free_stack[plan.stack_base + i] = block;
    const int64_t position = directory_position(pool.directory, hash);
    if (position >= 0) {
      directory_vacate(pool.directory, static_cast<uint64_t>(position));
    }
    // Skip events that the batch's own events would overwrite.
    if (plan.victims - i <= pool.shape.event_capacity) {
      write_event(pool, plan.first_event + i, BlockEventKind::kRemoved, hash, 0, 0);
    }
  }
  if (thread_in_grid() == 0) {
    pool.counters->oldest_stale = 1;
  }
}

}  // namespace kvasir

extern "C" __global__ void __launch_bounds__(1024, 1)
    kvasir_pool_list_victims(const kvasir::DevicePool* memory) {
  KVASIR_SHARED(kvasir::BlockSums, sums);
  kvasir::list_victims(*memory, sums);
}

extern "C" __global__ void __launch_bounds__(1024, 1)
    kvasir_pool_take_victims(const kvasir::DevicePool* memory) {
  kvasir::take_victims(*memory);
}
