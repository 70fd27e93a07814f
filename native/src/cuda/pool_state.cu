// Operations on a whole pool: set up, clear, occupancy.

#include "device_primitives.cuh"

namespace kvasir {

// Called by the one thread that writes the page: nine asynchronous stores.
KVASIR_DEVICE void publish_page(const DevicePool& pool, PoolCounters& counters) {
  const uint64_t words[kOccupancyWords] = {pool.shape.capacity_blocks, counters.free_blocks,
                                           counters.cached_blocks,     counters.active_blocks,
                                           counters.reserved_blocks,   counters.evicted_blocks,
                                           counters.oldest_tick,       counters.tick};
  const uint64_t sequence = counters.page_sequence;
  counters.page_sequence = sequence + 2;
  store_relaxed(&pool.page->sequence, sequence + 1);
  fence_system();
  for (uint32_t i = 0; i < kOccupancyWords; i++) {
    store_relaxed(&pool.page->words[i], words[i]);
  }
  store_relaxed(&pool.ring->next_event, counters.next_event);
  store_relaxed(&pool.ring->reserved_end, counters.next_event);
  fence_system();
  store_relaxed(&pool.page->sequence, sequence + 2);
}

}  // namespace kvasir

// Lays out a pool in `memory` and frees every block. Memory, page and ring may have any contents.
// O(bytes of the state arrays) over all threads.
extern "C" __global__ void kvasir_pool_initialise(kvasir::DevicePool* memory,
                                                  kvasir::PoolShape shape,
                                                  kvasir::OccupancyPage* page,
                                                  kvasir::EventRingHead* ring) {
  using namespace kvasir;
  DevicePool pool{};
  device_pool_view(static_cast<uint64_t>(reinterpret_cast<uintptr_t>(memory)), shape, &pool);
  pool.page = page;
  pool.ring = ring;
  const uint64_t first = thread_in_grid();
  const uint64_t step = threads_in_grid();
  for (uint64_t i = first; i < pool.directory.bucket_count; i += step) {
    pool.directory.buckets[i] = Bucket{};
  }
  for (uint64_t i = first; i < pool.directory.bucket_count * 8; i += step) {
    pool.directory.blocks[i] = kNoBlock;
  }
  for (uint64_t i = first; i < shape.capacity_blocks; i += step) {
    pool.holders[i] = 0;
    pool.stamps[i] = 0;
    pool.evictable[i] = kNotEvictable;
    pool.free_stack[i] = static_cast<uint32_t>(shape.capacity_blocks - 1 - i);
  }
  for (uint64_t i = first; i < shape.max_leases; i += step) {
    pool.leases[i] = DeviceLease{};
    pool.leases[i].mark = kUnmarked;
    pool.free_leases[i] = static_cast<int32_t>(shape.max_leases - 1 - i);
  }
  if (first == 0) {
    *memory = pool;
    PoolCounters counters{};
    counters.free_blocks = shape.capacity_blocks;
    counters.free_leases = shape.max_leases;
    PoolPlan plan{};
    plan.failure = kNoFailure;
    *pool.plan = plan;
    *pool.counters = counters;
    publish_page(pool, *pool.counters);
  }
}

// Removes all names. A thread per bucket, block and lease, in strides of the grid.
extern "C" __global__ void kvasir_pool_clear(const kvasir::DevicePool* memory) {
  using namespace kvasir;
  const DevicePool& pool = *memory;
  PoolCounters& counters = *pool.counters;
  for (uint64_t i = thread_in_grid(); i < pool.directory.bucket_count; i += threads_in_grid()) {
    for (uint32_t slot = 0; slot < kKeysPerBucket; slot++) {
      store_relaxed(&pool.directory.buckets[i].keys[slot], uint64_t{0});
      pool.directory.blocks[i * 8 + slot] = kNoBlock;
    }
    store_relaxed(&pool.directory.buckets[i].passed, uint64_t{0});
  }
  for (uint64_t tile = warp_in_grid(); tile * 32 < pool.shape.capacity_blocks;
       tile += warps_in_grid()) {
    const uint64_t block = tile * 32 + lane();
    const bool exists = block < pool.shape.capacity_blocks;
    const bool cached = exists && pool.evictable[block] != kNotEvictable;
    const uint32_t place = warp_append(&counters.free_blocks, cached);
    warp_count(&counters.cached_blocks, cached, -1);
    if (cached) {
      pool.evictable[block] = kNotEvictable;
      pool.free_stack[place] = static_cast<uint32_t>(block);
    }
    if (exists) {
      pool.holders[block] &= ~kNamedBit;
    }
  }
  for (uint64_t i = thread_in_grid(); i < pool.shape.max_leases; i += threads_in_grid()) {
    pool.leases[i].unnameable = 1;
  }
  if (thread_in_grid() == 0) {
    counters.queue_begin = 0;
    counters.queue_end = 0;
    reserve_events(pool, 1);
    fence_system();  // before the event
    write_event(pool, counters.next_event, BlockEventKind::kCleared, 0, 0, 0);
    counters.next_event++;
  }
}

namespace kvasir {

// Finds the oldest evictable block: the first valid entry of the queue, which then begins there.
// O(entries before it that are no longer valid).
KVASIR_DEVICE void find_oldest(const DevicePool& pool, uint32_t& first_valid) {
  PoolCounters& counters = *pool.counters;
  const uint32_t begin = counters.queue_begin;
  const uint32_t end = counters.queue_end;
  if (threadIdx.x == 0) {
    first_valid = end;
  }
  __syncthreads();
  for (uint32_t first = begin; first < end; first += blockDim.x) {
    const uint32_t i = first + threadIdx.x;
    if (i < end && is_valid(pool, i)) {
      atomicMin(&first_valid, i);
    }
    __syncthreads();
    const bool found = first_valid < end;
    __syncthreads();
    if (found) {
      break;
    }
  }
  if (threadIdx.x == 0) {
    counters.queue_begin = first_valid;
    counters.oldest_tick = pool.queue_keys[first_valid] >> pool.depth_bits;
  }
}

// Finds the oldest evictable block if it may have changed, then publishes the page. One thread
// block.
KVASIR_DEVICE void occupancy(const DevicePool& pool, uint32_t& first_valid) {
  PoolCounters& counters = *pool.counters;
  const bool empty = counters.cached_blocks == 0;
  if (counters.oldest_stale != 0 && !empty) {
    find_oldest(pool, first_valid);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    if (empty) {
      counters.oldest_tick = counters.tick;
      counters.queue_begin = 0;
      counters.queue_end = 0;
    }
    counters.oldest_stale = 0;
    publish_page(pool, counters);
  }
}

}  // namespace kvasir

extern "C" __global__ void __launch_bounds__(1024, 1)
    kvasir_pool_occupancy(const kvasir::DevicePool* memory) {
  KVASIR_SHARED(uint32_t, first_valid);
  kvasir::occupancy(*memory, first_valid);
}
