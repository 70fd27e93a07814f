// Primitives of the kernels: words shared between threads, and sums over warps and thread blocks.
//
// Unless stated otherwise, kernels accept any launch geometry whose thread blocks are whole warps
// of at most 1,024 threads. Warp primitives must be called by all 32 lanes, barriers by all
// threads. Most work is a chain of dependent accesses, so a thread block shares a request with many
// blocks.
#pragma once

#include "kvasir/device_pool_core.hpp"

#define KVASIR_DEVICE __device__ __forceinline__

// A shared-memory variable of a thread block. The host shim gives each thread block its own.
#if !defined(KVASIR_SHARED)
#define KVASIR_SHARED(type, name) __shared__ type name
#endif

// What always holds, so that no code for anything else is made.
#if defined(__CUDACC__)
#define KVASIR_ASSUME(condition) __builtin_assume(condition)
#else
#define KVASIR_ASSUME(condition) static_cast<void>(0)
#endif

namespace kvasir {

#if defined(__CUDACC__)
using AtomicWord = unsigned long long;
#else
using AtomicWord = uint64_t;
#endif

constexpr uint32_t kAllLanes = 0xffffffffu;
constexpr uint32_t kMaxWarps = 32;

KVASIR_DEVICE uint64_t atomic_add(uint64_t* word, uint64_t value) {
  return atomicAdd(reinterpret_cast<AtomicWord*>(word), static_cast<AtomicWord>(value));
}

KVASIR_DEVICE uint64_t atomic_min(uint64_t* word, uint64_t value) {
  return atomicMin(reinterpret_cast<AtomicWord*>(word), static_cast<AtomicWord>(value));
}

KVASIR_DEVICE uint64_t atomic_max(uint64_t* word, uint64_t value) {
  return atomicMax(reinterpret_cast<AtomicWord*>(word), static_cast<AtomicWord>(value));
}

KVASIR_DEVICE uint64_t atomic_cas(uint64_t* word, uint64_t expected, uint64_t value) {
  return atomicCAS(reinterpret_cast<AtomicWord*>(word), static_cast<AtomicWord>(expected),
                   static_cast<AtomicWord>(value));
}

// Acquire and release, which is all that is needed here, and less than the sequential consistency
// of __threadfence.
KVASIR_DEVICE void fence_device() {
#if defined(__CUDA_ARCH__)
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
#else
  __threadfence();
#endif
}

// The same, for the host as well.
KVASIR_DEVICE void fence_system() {
#if defined(__CUDA_ARCH__)
  asm volatile("fence.acq_rel.sys;" ::: "memory");
#else
  __threadfence_system();
#endif
}

KVASIR_DEVICE uint32_t lane() { return threadIdx.x % 32; }
KVASIR_DEVICE uint32_t warp_in_block() { return threadIdx.x / 32; }
KVASIR_DEVICE uint32_t warps_in_block() { return blockDim.x / 32; }
KVASIR_DEVICE uint32_t warp_in_grid() { return blockIdx.x * warps_in_block() + warp_in_block(); }
KVASIR_DEVICE uint32_t warps_in_grid() { return gridDim.x * warps_in_block(); }
KVASIR_DEVICE uint64_t thread_in_grid() {
  return static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
KVASIR_DEVICE uint64_t threads_in_grid() { return static_cast<uint64_t>(gridDim.x) * blockDim.x; }

// Adds the number of requesting lanes to a counter with one atomic.
KVASIR_DEVICE void warp_count(uint32_t* counter, bool asks, int32_t sign) {
  const uint32_t asking = __ballot_sync(kAllLanes, asks);
  if (lane() == 0 && asking != 0) {
    atomicAdd(counter, static_cast<uint32_t>(sign * __popc(asking)));
  }
}

// Assigns every requesting lane the next place of a growing array.
KVASIR_DEVICE uint32_t warp_append(uint32_t* length, bool asks) {
  const uint32_t asking = __ballot_sync(kAllLanes, asks);
  uint32_t first = 0;
  if (lane() == 0 && asking != 0) {
    first = atomicAdd(length, static_cast<uint32_t>(__popc(asking)));
  }
  first = __shfl_sync(kAllLanes, first, 0);
  return first + static_cast<uint32_t>(__popc(asking & ((1u << lane()) - 1)));
}

// Inclusive prefix sum over the warp; `total` receives the total.
KVASIR_DEVICE int64_t warp_prefix_sum(int64_t value, int64_t* total) {
  int64_t sum = value;
  for (uint32_t step = 1; step < 32; step *= 2) {
    const int64_t below = __shfl_up_sync(kAllLanes, sum, step);
    sum += lane() >= step ? below : 0;
  }
  *total = __shfl_sync(kAllLanes, sum, 31);
  return sum;
}

// Scratch for one sum over a thread block.
struct BlockSums {
  int64_t warps[kMaxWarps];
};

// The same over the thread block. All threads must call it.
KVASIR_DEVICE int64_t block_prefix_sum(BlockSums& sums, int64_t value, int64_t* total) {
  int64_t of_warp = 0;
  const int64_t sum = warp_prefix_sum(value, &of_warp);
  if (lane() == 31) {
    sums.warps[warp_in_block()] = of_warp;
  }
  __syncthreads();
  int64_t before = 0;
  int64_t all = 0;
  for (uint32_t warp = 0; warp < warps_in_block(); warp++) {
    before += warp < warp_in_block() ? sums.warps[warp] : 0;
    all += sums.warps[warp];
  }
  __syncthreads();
  *total = all;
  return before + sum;
}

// The threads that work on one entry of a batch: a thread block, for few entries of many blocks.
struct BlockTeam {
  static KVASIR_DEVICE uint32_t first() { return blockIdx.x; }  // entry
  static KVASIR_DEVICE uint32_t step() { return gridDim.x; }
  static KVASIR_DEVICE uint32_t thread() { return threadIdx.x; }
  static KVASIR_DEVICE uint32_t threads() { return blockDim.x; }
  static KVASIR_DEVICE uint32_t warp() { return warp_in_block(); }
  static KVASIR_DEVICE void sync() { __syncthreads(); }
  static KVASIR_DEVICE int64_t prefix_sum(BlockSums& sums, int64_t value, int64_t* total) {
    return block_prefix_sum(sums, value, total);
  }
};

// A warp, for many entries of few blocks.
struct WarpTeam {
  static KVASIR_DEVICE uint32_t first() { return warp_in_grid(); }
  static KVASIR_DEVICE uint32_t step() { return warps_in_grid(); }
  static KVASIR_DEVICE uint32_t thread() { return lane(); }
  static KVASIR_DEVICE uint32_t threads() { return 32; }
  static KVASIR_DEVICE uint32_t warp() { return 0; }
  static KVASIR_DEVICE void sync() { __syncwarp(); }
  static KVASIR_DEVICE int64_t prefix_sum(BlockSums&, int64_t value, int64_t* total) {
    return warp_prefix_sum(value, total);
  }
};

// Compares up to 32 consecutive blocks of a request, whose tokens start at `tokens`, with the
// lanes' `block`; returns those of `compared` that differ. Lanes read consecutive words, several in
// flight before the first comparison, to hide memory latency.
KVASIR_DEVICE uint32_t warp_differing(const DevicePool& pool, uint32_t block,
                                      const uint32_t* tokens, uint32_t compared) {
  constexpr uint32_t kAtOnce = 4;
  const uint32_t per_block = pool.shape.tokens_per_block;
  const uint32_t words = static_cast<uint32_t>(32 - __clz(static_cast<int>(compared))) * per_block;
  uint32_t differing = 0;
  for (uint32_t first = 0; first < words; first += 32 * kAtOnce) {
    uint32_t of[kAtOnce];
    uint32_t theirs[kAtOnce];
    uint32_t ours[kAtOnce];
    for (uint32_t k = 0; k < kAtOnce; k++) {
      const uint32_t word = first + 32 * k + lane();
      of[k] = word / per_block;
      const uint32_t candidate = __shfl_sync(kAllLanes, block, static_cast<int>(of[k] % 32));
      const bool compares = word < words && (compared >> of[k] & 1) != 0;
      theirs[k] = compares ? tokens[word] : 0;
      ours[k] = compares ? tokens_of(pool, candidate)[word % per_block] : 0;
    }
    for (uint32_t k = 0; k < kAtOnce; k++) {
      if (theirs[k] != ours[k]) {
        differing |= 1u << of[k];
      }
    }
  }
  return __reduce_or_sync(kAllLanes, differing);
}

// Copies the tokens of the blocks in `copied` to the lanes' own `block`.
KVASIR_DEVICE void warp_copy_tokens(const DevicePool& pool, uint32_t block, const uint32_t* tokens,
                                    uint32_t copied) {
  const uint32_t per_block = pool.shape.tokens_per_block;
  const uint32_t words = static_cast<uint32_t>(32 - __clz(static_cast<int>(copied))) * per_block;
  for (uint32_t first = 0; first < words; first += 32) {
    const uint32_t word = first + lane();
    const uint32_t of = word / per_block;
    const uint32_t to = __shfl_sync(kAllLanes, block, static_cast<int>(of % 32));
    if (word < words && (copied >> of & 1) != 0) {
      tokens_of(pool, to)[word % per_block] = tokens[word];
    }
  }
}

// ---- blocks and their counts --------------------------------------------------------------------

// Takes a reference; true if the block was evictable. The caller updates the counts.
KVASIR_DEVICE bool hold_block(const DevicePool& pool, uint32_t block) {
  if ((atomicAdd(&pool.holders[block], 1u) & ~kNamedBit) != 0) {
    return false;
  }
  const uint64_t key = pool.evictable[block];
  pool.evictable[block] = kNotEvictable;
  if (key >> pool.depth_bits == pool.counters->oldest_tick) {
    store_relaxed(&pool.counters->oldest_stale, 1u);
  }
  return true;
}

// Moves the lanes' blocks from cached to active in the counts, or back for sign -1.
KVASIR_DEVICE void warp_activate(const DevicePool& pool, bool counted, int32_t sign) {
  warp_count(&pool.counters->cached_blocks, counted, -sign);
  warp_count(&pool.counters->active_blocks, counted, sign);
}

// ---- events (event_ring_core.hpp) ---------------------------------------------------------------

// Called by one thread before the events are written; `most` bounds their number.
KVASIR_DEVICE void reserve_events(const DevicePool& pool, uint64_t most) {
  store_relaxed(&pool.ring->reserved_end, pool.counters->next_event + most);
}

// Must follow a system-scope fence of the same thread, after the events were reserved.
KVASIR_DEVICE void write_event(const DevicePool& pool, uint64_t sequence, BlockEventKind kind,
                               uint64_t hash, uint64_t parent_hash, uint32_t depth) {
  const uint32_t capacity = pool.shape.event_capacity;
  if (capacity > 0) {
    const EventSlot packed = pack_event({sequence, hash, parent_hash, kind, depth});
    EventSlot& slot = event_slots(pool.ring)[sequence % capacity];
    for (uint32_t i = 0; i < 4; i++) {
      store_relaxed(&slot.words[i], packed.words[i]);
    }
  }
}

// ---- directory ----------------------------------------------------------------------------------

// Two neighbouring words that another thread may change, each read atomically; bypasses the SM's L1
// cache. `p` is aligned to both.
KVASIR_DEVICE void load_pair(const uint64_t* p, uint64_t& first, uint64_t& second) {
#if defined(__CUDA_ARCH__)
  asm volatile("ld.relaxed.gpu.v2.u64 {%0, %1}, [%2];"
               : "=l"(first), "=l"(second)
               : "l"(p)
               : "memory");
#else
  first = load_relaxed(p);
  second = load_relaxed(p + 1);
#endif
}

// All words of a bucket, loaded concurrently in one memory access.
struct BucketWords {
  uint64_t words[8];

  KVASIR_DEVICE explicit BucketWords(const Bucket& line) {
    for (uint32_t i = 0; i < 8; i += 2) {
      load_pair(line.keys + i, words[i], words[i + 1]);
    }
  }
  KVASIR_DEVICE uint64_t passed() const { return words[kKeysPerBucket]; }
};
static_assert(sizeof(Bucket) == 64 && offsetof(Bucket, passed) == 56, "read as eight words");

// directory_find() on a whole bucket at a time.
KVASIR_DEVICE int64_t directory_position(const Directory& directory, uint64_t hash) {
  const uint64_t key = directory_key(hash);
  uint64_t bucket = directory_home(directory, key);
  for (uint64_t visited = 0; visited < directory.bucket_count; visited++) {
    const BucketWords line(directory.buckets[bucket]);
    for (uint32_t slot = 0; slot < kKeysPerBucket; slot++) {
      if (line.words[slot] == key) {
        return static_cast<int64_t>(bucket * 8 + slot);
      }
    }
    if (line.passed() == 0) {
      return -1;
    }
    bucket = next_bucket(directory, bucket);
  }
  return -1;
}

// Decrements `passed` marks from a key's home up to, but excluding, a bucket.
KVASIR_DEVICE void directory_unmark(const Directory& directory, uint64_t key, uint64_t end) {
  for (uint64_t bucket = directory_home(directory, key); bucket != end;
       bucket = next_bucket(directory, bucket)) {
    atomic_add(&directory.buckets[bucket].passed, ~uint64_t{0});
  }
}

// Position of a hash, inserted if absent. Threads may call this concurrently, also for equal
// hashes: slots are tried in one order and do not become empty during the launch, so equal hashes
// find the same slot. If a slot that was read as empty has been filled, the compare-and-swap
// returns its key. Lanes look for their slots in registers, so that their swaps are one access.
KVASIR_DEVICE uint32_t directory_claim(const Directory& directory, uint64_t hash) {
  const int64_t present = directory_position(directory, hash);
  if (present >= 0) {
    return static_cast<uint32_t>(present);
  }
  const uint64_t key = directory_key(hash);
  for (uint64_t bucket = directory_home(directory, key);; bucket = next_bucket(directory, bucket)) {
    Bucket& line = directory.buckets[bucket];
    BucketWords words(line);
    for (;;) {
      uint32_t slot = kKeysPerBucket;  // the first that is empty or has the key
      uint64_t before = 0;
      for (uint32_t i = kKeysPerBucket; i-- > 0;) {
        if (words.words[i] == 0 || words.words[i] == key) {
          slot = i;
          before = words.words[i];
        }
      }
      if (slot == kKeysPerBucket) {
        break;
      }
      if (before == 0) {
        before = atomic_cas(&line.keys[slot], 0, key);
        if (before == 0) {
          return static_cast<uint32_t>(bucket * 8 + slot);
        }
      }
      if (before == key) {
        directory_unmark(directory, key, bucket);
        return static_cast<uint32_t>(bucket * 8 + slot);
      }
      for (uint32_t i = 0; i < kKeysPerBucket; i++) {
        words.words[i] = i == slot ? before : words.words[i];
      }
    }
    atomic_add(&line.passed, 1);
  }
}

// Empties a position. Threads may call this concurrently with each other and with look-ups, and
// while others read the block of the position.
KVASIR_DEVICE void directory_vacate(const Directory& directory, uint64_t position) {
  uint64_t* key = &directory.buckets[position / 8].keys[position % 8];
  const uint64_t erased = *key;
  store_relaxed(&directory.blocks[position], kNoBlock);
  store_relaxed(key, uint64_t{0});
  directory_unmark(directory, erased, position / 8);
}

}  // namespace kvasir
