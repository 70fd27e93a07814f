// Evicts the shortfall computed by a planning kernel.

#include "pool_plan.cuh"

namespace kvasir {

// Determines one digit of the last victim's key: counts the keys in the remaining range by their
// next kSelectBits bits; the thread block that arrives last chooses the digit. Returns at once when
// the key is known. O(capacity) reads of one array, histogram in shared memory.
struct SelectScratch {
  uint32_t bins[kSelectBins];
  BlockSums sums;
  uint32_t last;
};

KVASIR_DEVICE void select(const DevicePool& pool, SelectScratch& shared) {
  PoolPlan& plan = *pool.plan;
  if (plan.select_wanted == 0) {
    return;
  }
  const uint32_t bits = plan.select_bits;
  const uint64_t base = plan.select_base;
  const uint32_t shift = bits > kSelectBits ? bits - kSelectBits : 0;
  for (uint32_t bin = threadIdx.x; bin < kSelectBins; bin += blockDim.x) {
    shared.bins[bin] = 0;
  }
  __syncthreads();
  visit_keys(pool, [&](uint64_t, uint64_t key) {
    if (key != kNotEvictable && key >= base && (bits >= 64 || (key - base) >> bits == 0)) {
      atomicAdd(&shared.bins[(key - base) >> shift], 1u);
    }
  });
  __syncthreads();
  for (uint32_t bin = threadIdx.x; bin < kSelectBins; bin += blockDim.x) {
    if (shared.bins[bin] != 0) {
      atomicAdd(&pool.histogram[bin], shared.bins[bin]);
    }
  }
  if (!block_arrives_last(&plan.arrived, shared.last)) {
    return;
  }
  const int64_t wanted = plan.select_wanted;
  int64_t before = 0;
  __syncthreads();
  for (uint32_t first = 0; first < kSelectBins; first += blockDim.x) {
    const uint32_t bin = first + threadIdx.x;
    const int64_t inside = bin < kSelectBins ? load_relaxed(&pool.histogram[bin]) : 0;
    int64_t total = 0;
    const int64_t up_to = before + block_prefix_sum(shared.sums, inside, &total);
    if (up_to >= wanted && up_to - inside < wanted) {
      plan.select_base = base + (static_cast<uint64_t>(bin) << shift);
      plan.select_bits = shift;
      plan.select_wanted = static_cast<uint32_t>(wanted - (up_to - inside));
      if (up_to == wanted) {  // the whole bin
        plan.threshold = plan.select_base + ((uint64_t{1} << shift) - 1);
        plan.select_wanted = 0;
      }
    }
    before += total;
    if (bin < kSelectBins) {
      pool.histogram[bin] = 0;
    }
  }
}

// Removes the victims from the directory and pushes them onto the free stack. A lane per block of
// the pool; a directory look-up per victim. A victim that the directory does not have, which only
// damaged memory explains, is taken all the same.
KVASIR_DEVICE void take_victims(const DevicePool& pool) {
  PoolPlan& plan = *pool.plan;
  if (plan.victims == 0) {
    return;
  }
  const uint64_t threshold = plan.threshold;
  visit_keys(pool, [&](uint64_t block, uint64_t key) {
    const bool victim = key <= threshold;
    const uint32_t place = warp_append(&plan.taken, victim);
    if (victim) {
      pool.evictable[block] = kNotEvictable;
      pool.holders[block] = 0;
      pool.free_stack[plan.stack_base + place] = static_cast<uint32_t>(block);
      const int64_t position = directory_position(pool.directory, pool.names[block].hash);
      if (position >= 0) {
        directory_vacate(pool.directory, static_cast<uint64_t>(position));
      }
    }
  });
  if (thread_in_grid() == 0) {
    pool.counters->oldest_stale = 1;
  }
}

// Writes the victims' events in eviction order: each victim counts those before it, tile by tile
// through shared memory. O(victims^2) comparisons over all threads of the grid.
struct RemovedEventsScratch {
  uint64_t keys[1024];
};

KVASIR_DEVICE void removed_events(const DevicePool& pool, RemovedEventsScratch& shared) {
  const PoolPlan& plan = *pool.plan;
  if (pool.shape.event_capacity == 0 || plan.victims == 0) {
    return;
  }
  __threadfence_system();  // before the events
  const uint32_t* victims = pool.free_stack + plan.stack_base;
  for (uint64_t first = static_cast<uint64_t>(blockIdx.x) * blockDim.x; first < plan.victims;
       first += threads_in_grid()) {
    const uint64_t own = first + threadIdx.x;
    const uint64_t key = own < plan.victims ? pool.stamps[victims[own]] : 0;
    uint32_t rank = 0;
    for (uint32_t tile = 0; tile < plan.victims; tile += blockDim.x) {
      const uint32_t left = plan.victims - tile < blockDim.x ? plan.victims - tile : blockDim.x;
      if (threadIdx.x < left) {
        shared.keys[threadIdx.x] = pool.stamps[victims[tile + threadIdx.x]];
      }
      __syncthreads();
      for (uint32_t i = 0; i < left; i++) {
        rank += shared.keys[i] < key ? 1 : 0;
      }
      __syncthreads();
    }
    // Skip events that the batch's own events would overwrite.
    if (own < plan.victims && plan.victims - rank <= pool.shape.event_capacity) {
      write_event(pool, plan.first_event + rank, BlockEventKind::kRemoved,
                  pool.names[victims[own]].hash, 0, 0);
    }
  }
}

}  // namespace kvasir

extern "C" __global__ void __launch_bounds__(1024, 1)
    kvasir_pool_select(const kvasir::DevicePool* memory) {
  KVASIR_SHARED(kvasir::SelectScratch, shared);
  kvasir::select(*memory, shared);
}

extern "C" __global__ void __launch_bounds__(1024, 1)
    kvasir_pool_take_victims(const kvasir::DevicePool* memory) {
  kvasir::take_victims(*memory);
}

extern "C" __global__ void __launch_bounds__(1024, 1)
    kvasir_pool_removed_events(const kvasir::DevicePool* memory) {
  KVASIR_SHARED(kvasir::RemovedEventsScratch, shared);
  kvasir::removed_events(*memory, shared);
}
