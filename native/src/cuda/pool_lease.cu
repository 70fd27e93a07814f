// Lease.

#include "pool_plan.cuh"

namespace kvasir {

// Pins each request's matched leading blocks. A thread block per request, a thread per block:
// hashes are looked up and compared with each other's parents in parallel, tokens by a whole warp.
// The blocks are stored in the table that the request owns if it is admitted.
struct LeaseMatchScratch {
  uint32_t end;              // blocks from here on do not match, or are not checked yet
  uint32_t last[kMaxWarps];  // result of each warp's last lane
};

KVASIR_DEVICE void lease_match(const DevicePool& pool, LeaseRequest* requests, uint32_t count,
                               LeaseMatchScratch& shared) {
  const uint32_t free_leases = pool.counters->free_leases;
  for (uint32_t i = blockIdx.x; i < count; i += gridDim.x) {
    const LeaseRequest request = requests[i];
    const CacheScope scope{request.lora_task_id, request.salt_id, request.presence_mask};
    uint32_t end =
        request.matchable_blocks < request.blocks ? request.matchable_blocks : request.blocks;
    if (request.blocks > pool.shape.max_blocks_per_lease) {
      end = 0;
      if (threadIdx.x == 0) {
        atomic_min(&pool.plan->failure, static_cast<uint64_t>(i) << 32 |
                                            static_cast<uint32_t>(PoolError::kTooManyBlocks));
      }
    }
    uint32_t* table =
        i < free_leases ? block_table(pool, pool.free_leases[free_leases - 1 - i]) : nullptr;
    uint32_t matched = 0;
    uint32_t before = kNoBlock;  // the block before the first of this round
    __syncthreads();
    if (threadIdx.x == 0) {
      shared.end = end;
    }
    for (uint32_t first = 0; first < end; first += blockDim.x) {
      const uint32_t depth = first + threadIdx.x;
      const int64_t position =
          depth < end ? directory_position(pool.directory, request.hashes[depth]) : -1;
      const uint32_t block = position >= 0 ? pool.directory.blocks[position] : kNoBlock;
      if (lane() == 31) {
        shared.last[warp_in_block()] = block;
      }
      __syncthreads();
      uint32_t parent = __shfl_up_sync(kAllLanes, block, 1);
      if (lane() == 0) {
        parent = warp_in_block() == 0 ? before : shared.last[warp_in_block() - 1];
      }
      const bool same = block != kNoBlock && same_place(pool.names[block], depth, parent, scope);
      // Ones up to the first lane that does not match.
      uint32_t held = __ballot_sync(kAllLanes, same);
      held &= held ^ (held + 1);
      const uint32_t warp_first = first + warp_in_block() * 32;
      const uint32_t* tokens =
          request.tokens + static_cast<uint64_t>(warp_first) * pool.shape.tokens_per_block;
      const uint32_t differing = warp_differing(pool, block, tokens, held);
      held &= differing == 0 ? held : (differing & (~differing + 1)) - 1;
      if (lane() == 0 && held != kAllLanes) {
        atomicMin(&shared.end, warp_first + static_cast<uint32_t>(__popc(held)));
      }
      before = shared.last[warps_in_block() - 1];
      __syncthreads();
      matched = first + blockDim.x < shared.end ? first + blockDim.x : shared.end;
      const bool holds = depth < matched;
      const bool woken = holds && hold_block(pool, block);
      warp_activate(pool, woken, 1);
      if (holds && table != nullptr) {
        table[depth] = block;
      }
      if (matched < first + blockDim.x) {
        break;
      }
    }
    if (threadIdx.x == 0) {
      requests[i].matched_blocks = matched;
    }
  }
}

// Admits the longest prefix of the batch that fits, writes all results, reserves blocks and leases.
// Until its table is filled, an admitted request's `missing_blocks` is the offset of its new
// blocks.
struct LeasePlanScratch {
  BlockSums sums;
};

KVASIR_DEVICE void lease_plan(const DevicePool& pool, LeaseRequest* requests, uint32_t count,
                              PoolResult* result, LeasePlanScratch& shared) {
  PoolCounters& counters = *pool.counters;
  PoolPlan& plan = *pool.plan;
  const uint64_t failure = plan.failure;
  const int64_t available = available_blocks(counters);
  const uint32_t free_leases = counters.free_leases;
  int64_t wanted = 0;  // by the entries before
  int64_t booked = 0;
  int64_t reserved = 0;
  int64_t admitted = 0;
  for (uint32_t first = 0; first < count && failure == kNoFailure; first += blockDim.x) {
    const uint32_t i = first + threadIdx.x;
    const bool exists = i < count;
    const int64_t missing = exists ? int64_t{requests[i].blocks} - requests[i].matched_blocks : 0;
    const int64_t reserve = exists ? requests[i].reserve_blocks : 0;
    int64_t total = 0;
    const int64_t up_to = wanted + block_prefix_sum(shared.sums, missing + reserve, &total);
    wanted += total;
    const bool admits = exists && up_to <= available && i < free_leases;
    const int64_t offset =
        booked - missing + block_prefix_sum(shared.sums, admits ? missing : 0, &total);
    booked += total;
    if (exists) {
      requests[i].lease = admits ? pool.free_leases[free_leases - 1 - i] : kRefused;
      requests[i].missing_blocks = admits ? offset : up_to > available ? up_to - available : 0;
    }
    block_prefix_sum(shared.sums, admits ? reserve : 0, &total);
    reserved += total;
    block_prefix_sum(shared.sums, admits ? 1 : 0, &total);
    admitted += total;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    plan.failure = kNoFailure;
    plan.entries = static_cast<uint32_t>(admitted);
    plan.first_tick = counters.tick;
    plan_allocation(pool, static_cast<uint32_t>(booked));
    counters.tick += static_cast<uint64_t>(admitted);
    counters.reserved_blocks += static_cast<uint64_t>(reserved);
    counters.free_leases = free_leases - static_cast<uint32_t>(admitted);
    *result = result_of(failure);
  }
}

// Releases the pins of the refused requests. A thread block per refused request, a thread per
// block, which is looked up again by its hash. A block that the directory does not have any more,
// which only damaged memory explains, stays pinned.
template <typename Team>
KVASIR_DEVICE void lease_unpin(const DevicePool& pool, LeaseRequest* requests, uint32_t count) {
  for (uint32_t i = pool.plan->entries + Team::first(); i < count; i += Team::step()) {
    const uint64_t* hashes = requests[i].hashes;
    const uint32_t matched = requests[i].matched_blocks;
    Team::sync();
    for (uint32_t first = Team::warp() * 32; first < matched; first += Team::threads()) {
      const uint32_t depth = first + lane();
      bool cached = false;
      if (depth < matched) {
        const int64_t position = directory_position(pool.directory, hashes[depth]);
        const uint32_t block = position >= 0 ? pool.directory.blocks[position] : kNoBlock;
        cached = block != kNoBlock && (atomicSub(&pool.holders[block], 1u) & ~kNamedBit) == 1;
        if (cached) {
          pool.evictable[block] = pool.stamps[block];
        }
      }
      warp_activate(pool, cached, -1);
    }
    if (Team::thread() == 0) {
      requests[i].matched_blocks = 0;
    }
  }
}

// Fills the tables of the admitted requests. A thread block per request, a thread per new block.
template <typename Team>
KVASIR_DEVICE void lease_admit(const DevicePool& pool, LeaseRequest* requests) {
  for (uint32_t i = Team::first(); i < pool.plan->entries; i += Team::step()) {
    const LeaseRequest request = requests[i];
    Team::sync();
    take_blocks(pool, block_table(pool, request.lease), request.matched_blocks, request.blocks,
                static_cast<uint32_t>(request.missing_blocks), Team::thread(), Team::threads());
    if (Team::thread() == 0) {
      DeviceLease& lease = pool.leases[request.lease];
      lease.scope = {request.lora_task_id, request.salt_id, request.presence_mask};
      lease.blocks = request.blocks;
      lease.committed_blocks = request.matched_blocks;
      lease.reserved_blocks = request.reserve_blocks;
      lease.in_use = 1;
      lease.unnameable = 0;
      requests[i].missing_blocks = 0;
    }
  }
}

}  // namespace kvasir

extern "C" __global__ void __launch_bounds__(1024, 1)
    kvasir_pool_lease_match(const kvasir::DevicePool* memory, kvasir::LeaseRequest* requests,
                            uint32_t count) {
  KVASIR_SHARED(kvasir::LeaseMatchScratch, shared);
  kvasir::lease_match(*memory, requests, count, shared);
}

extern "C" __global__ void __launch_bounds__(1024, 1)
    kvasir_pool_lease_plan(const kvasir::DevicePool* memory, kvasir::LeaseRequest* requests,
                           uint32_t count, kvasir::PoolResult* result) {
  KVASIR_SHARED(kvasir::LeasePlanScratch, shared);
  kvasir::lease_plan(*memory, requests, count, result, shared);
}

extern "C" __global__ void __launch_bounds__(1024, 1)
    kvasir_pool_lease_unpin(const kvasir::DevicePool* memory, kvasir::LeaseRequest* requests,
                            uint32_t count) {
  kvasir::lease_unpin<kvasir::BlockTeam>(*memory, requests, count);
}

extern "C" __global__ void __launch_bounds__(1024, 1)
    kvasir_pool_lease_admit(const kvasir::DevicePool* memory, kvasir::LeaseRequest* requests) {
  kvasir::lease_admit<kvasir::BlockTeam>(*memory, requests);
}
