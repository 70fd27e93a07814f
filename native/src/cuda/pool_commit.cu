// Commit. The blocks of a batch have ordinals, in the order of entries and, within one, of depth;
// an entry's first ordinal is stored in `unused`. A thread block per entry, a lane per block.

#include "pool_plan.cuh"

namespace kvasir {

KVASIR_DEVICE uint32_t length_of(const CommitRequest& request) {
  return request.to_block > request.from_block ? request.to_block - request.from_block : 0;
}

// The block that has, or gets in this batch, the name of an ordinal.
KVASIR_DEVICE uint32_t resolved(const DevicePool& pool, uint32_t ordinal) {
  const uint32_t word = load_relaxed(&pool.directory.blocks[pool.claim_positions[ordinal]]);
  return (word & kClaimBit) != 0 ? pool.claim_blocks[word & ~kClaimBit] : word;
}

KVASIR_DEVICE bool wins(const DevicePool& pool, uint32_t ordinal) {
  return load_relaxed(&pool.directory.blocks[pool.claim_positions[ordinal]]) ==
         (kClaimBit | ordinal);
}

// Parent of the entry's block `index` after the batch.
KVASIR_DEVICE uint32_t resolved_parent(const DevicePool& pool, const CommitRequest& request,
                                       uint32_t index) {
  if (index > 0) {
    return resolved(pool, request.unused + index - 1);
  }
  return request.from_block == 0 ? kNoBlock
                                 : block_table(pool, request.lease)[request.from_block - 1];
}

KVASIR_DEVICE void write_name(const DevicePool& pool, uint32_t block, uint64_t hash,
                              uint32_t parent, uint32_t depth, const CacheScope& scope) {
  pool.names[block] = {hash, scope.lora_task_id, scope.salt_id, parent,
                       depth * 4 + scope.presence_mask};
}

KVASIR_DEVICE uint64_t parent_hash(const DevicePool& pool, uint32_t parent) {
  return parent == kNoBlock ? 0 : pool.names[parent].hash;
}

// Validates and numbers the blocks.
struct CommitPlanScratch {
  uint64_t failure;
  BlockSums sums;
};

KVASIR_DEVICE void commit_plan(const DevicePool& pool, CommitRequest* requests, uint32_t count,
                               PoolResult* result, CommitPlanScratch& shared) {
  PoolPlan& plan = *pool.plan;
  const uint64_t failure = validate(
      pool, requests, count, shared.failure,
      [](const CommitRequest& request, const DeviceLease& lease) {
        if (request.from_block != lease.committed_blocks) {
          return PoolError::kWrongFromBlock;
        }
        return request.to_block > lease.blocks ? PoolError::kBeyondLease : PoolError::kNone;
      });
  const uint32_t entries = failure == kNoFailure ? count : 0;
  int64_t before = 0;
  for (uint32_t first = 0; first < entries; first += blockDim.x) {
    const uint32_t i = first + threadIdx.x;
    const int64_t length = i < entries ? length_of(requests[i]) : 0;
    int64_t total = 0;
    const int64_t up_to = before + block_prefix_sum(shared.sums, length, &total);
    before += total;
    if (i < entries) {
      requests[i].unused = static_cast<uint32_t>(up_to - length);
      pool.leases[requests[i].lease].named = 0;
    }
  }
  if (threadIdx.x == 0) {
    plan.entries = entries;
    plan.first_event = pool.counters->next_event;
    reserve_events(pool, static_cast<uint64_t>(before));
    plan.named = 0;
    plan.collided = 0;
    *result = result_of(failure);
  }
}

// Finds every hash or inserts it into the directory; the lowest ordinal wins a new one.
template <typename Team>
KVASIR_DEVICE void commit_claim(const DevicePool& pool, const CommitRequest* requests) {
  for (uint32_t i = Team::first(); i < pool.plan->entries; i += Team::step()) {
    const CommitRequest request = requests[i];
    if (pool.leases[request.lease].unnameable != 0) {
      continue;
    }
    const uint32_t* table = block_table(pool, request.lease) + request.from_block;
    for (uint32_t index = Team::thread(); index < length_of(request); index += Team::threads()) {
      const uint32_t ordinal = request.unused + index;
      const uint32_t position = directory_claim(pool.directory, request.hashes[index]);
      atomicMin(&pool.directory.blocks[position], kClaimBit | ordinal);
      pool.claim_positions[ordinal] = position;
      pool.claim_blocks[ordinal] = table[index];
    }
  }
}

// Winners write names into their own blocks, which no other thread reads yet.
template <typename Team>
KVASIR_DEVICE void commit_name(const DevicePool& pool, const CommitRequest* requests) {
  for (uint32_t i = Team::first(); i < pool.plan->entries; i += Team::step()) {
    const CommitRequest request = requests[i];
    DeviceLease& lease = pool.leases[request.lease];
    if (lease.unnameable != 0) {
      continue;
    }
    for (uint32_t first = Team::warp() * 32; first < length_of(request); first += Team::threads()) {
      const uint32_t index = first + lane();
      const uint32_t ordinal = request.unused + index;
      const bool winner = index < length_of(request) && wins(pool, ordinal);
      const uint32_t own = winner ? pool.claim_blocks[ordinal] : kNoBlock;
      if (winner) {
        write_name(pool, own, request.hashes[index], resolved_parent(pool, request, index),
                   request.from_block + index, lease.scope);
      }
      const uint32_t* tokens =
          request.tokens + static_cast<uint64_t>(first) * pool.shape.tokens_per_block;
      warp_copy_tokens(pool, own, tokens, __ballot_sync(kAllLanes, winner));
      warp_count(&lease.named, winner, 1);
      warp_count(&pool.plan->named, winner, 1);
    }
  }
}

// The others compare the blocks that they would share.
template <typename Team>
KVASIR_DEVICE void commit_check(const DevicePool& pool, const CommitRequest* requests) {
  for (uint32_t i = Team::first(); i < pool.plan->entries; i += Team::step()) {
    const CommitRequest request = requests[i];
    const DeviceLease& lease = pool.leases[request.lease];
    if (lease.unnameable != 0) {
      continue;
    }
    for (uint32_t first = Team::warp() * 32; first < length_of(request); first += Team::threads()) {
      const uint32_t index = first + lane();
      const uint32_t ordinal = request.unused + index;
      const bool shares = index < length_of(request) && !wins(pool, ordinal);
      const uint32_t named = shares ? resolved(pool, ordinal) : kNoBlock;
      bool same = !shares || same_place(pool.names[named], request.from_block + index,
                                        resolved_parent(pool, request, index), lease.scope);
      const uint32_t* tokens =
          request.tokens + static_cast<uint64_t>(first) * pool.shape.tokens_per_block;
      const uint32_t differing =
          warp_differing(pool, named, tokens, __ballot_sync(kAllLanes, shares && same));
      same = same && (differing >> lane() & 1) == 0;
      if (!same) {
        store_relaxed(&pool.plan->collided, 1u);
      }
    }
  }
}

// Names the winners' blocks and writes their events; the others take references and free their own
// copies. After a collision, only removes the new hashes from the directory.
struct CommitFinishScratch {
  BlockSums sums;
};

template <typename Team>
KVASIR_DEVICE void commit_finish(const DevicePool& pool, const CommitRequest* requests,
                                 CommitFinishScratch& shared) {
  const PoolPlan& plan = *pool.plan;
  PoolCounters& counters = *pool.counters;
  const bool collided = plan.collided != 0;
  fence_system();  // before the events
  for (uint32_t i = Team::first(); i < plan.entries; i += Team::step()) {
    const CommitRequest request = requests[i];
    DeviceLease& lease = pool.leases[request.lease];
    const uint32_t length = lease.unnameable != 0 ? 0 : length_of(request);
    uint32_t* table = block_table(pool, request.lease) + request.from_block;
    // Events of the earlier entries.
    int64_t named = 0;
    for (uint32_t first = 0; first < i; first += Team::threads()) {
      const uint32_t other = first + Team::thread();
      int64_t total = 0;
      Team::prefix_sum(shared.sums, other < i ? pool.leases[requests[other].lease].named : 0,
                       &total);
      named += total;
    }
    for (uint32_t first = 0; first < length; first += Team::threads()) {
      const uint32_t index = first + Team::thread();
      const uint32_t ordinal = request.unused + index;
      const bool exists = index < length;
      const bool winner = exists && wins(pool, ordinal);
      int64_t total = 0;
      const int64_t rank = named - 1 + Team::prefix_sum(shared.sums, winner ? 1 : 0, &total);
      named += total;
      if (winner && collided) {
        directory_vacate(pool.directory, pool.claim_positions[ordinal]);
      }
      if (winner && !collided) {
        const uint32_t own = pool.claim_blocks[ordinal];
        const BlockName& name = pool.names[own];
        atomicAdd(&pool.holders[own], kNamedBit);
        store_relaxed(&pool.directory.blocks[pool.claim_positions[ordinal]], own);
        if (plan.named - rank <= pool.shape.event_capacity) {
          write_event(pool, plan.first_event + static_cast<uint64_t>(rank), BlockEventKind::kStored,
                      name.hash, parent_hash(pool, name.parent), request.from_block + index);
        }
      }
      const bool shares = exists && !winner && !collided;
      bool woken = false;
      uint32_t own = kNoBlock;
      if (shares) {
        const uint32_t target = resolved(pool, ordinal);
        own = pool.claim_blocks[ordinal];
        woken = hold_block(pool, target);
        pool.holders[own] = 0;
        table[index] = target;
      }
      warp_activate(pool, woken, 1);
      warp_count(&counters.active_blocks, shares, -1);
      const uint32_t place = warp_append(&counters.free_blocks, shares);
      if (shares) {
        pool.free_stack[place] = own;
      }
    }
    if (Team::thread() == 0) {
      lease.committed_blocks = request.to_block;
    }
  }
}

// Ends the batch. After a collision one warp commits it in order, block by block; the lanes compare
// and copy tokens.
KVASIR_DEVICE void commit_sequential(const DevicePool& pool, const CommitRequest* requests) {
  const PoolPlan& plan = *pool.plan;
  PoolCounters& counters = *pool.counters;
  if (warp_in_grid() != 0) {
    return;
  }
  if (plan.collided == 0) {
    if (lane() == 0) {
      counters.next_event += plan.named;
    }
    return;
  }
  fence_system();  // before the events
  for (uint32_t i = 0; i < plan.entries; i++) {
    const CommitRequest request = requests[i];
    DeviceLease& lease = pool.leases[request.lease];
    uint32_t* table = block_table(pool, request.lease);
    for (uint32_t index = 0; index < length_of(request); index++) {
      __syncwarp();
      if (lease.unnameable != 0) {
        break;
      }
      const uint32_t depth = request.from_block + index;
      const uint64_t hash = request.hashes[index];
      const uint32_t own = table[depth];
      const uint32_t parent = depth == 0 ? kNoBlock : table[depth - 1];
      const uint32_t* tokens =
          request.tokens + static_cast<uint64_t>(index) * pool.shape.tokens_per_block;
      const int64_t position = directory_position(pool.directory, hash);
      const uint32_t named = position >= 0 ? pool.directory.blocks[position] : kNoBlock;
      const bool same = position >= 0 &&
                        same_place(pool.names[named], depth, parent, lease.scope) &&
                        warp_differing(pool, named, tokens, 1) == 0;
      if (position < 0) {
        warp_copy_tokens(pool, own, tokens, 1);
      }
      __syncwarp();
      if (lane() != 0) {
        continue;
      }
      if (position < 0) {
        write_name(pool, own, hash, parent, depth, lease.scope);
        pool.holders[own] |= kNamedBit;
        pool.directory.blocks[directory_claim(pool.directory, hash)] = own;
        write_event(pool, counters.next_event, BlockEventKind::kStored, hash,
                    parent_hash(pool, parent), depth);
        counters.next_event++;
      } else if (same) {
        const uint32_t woken = hold_block(pool, named) ? 1 : 0;
        counters.cached_blocks -= woken;
        counters.active_blocks -= 1 - woken;
        pool.holders[own] = 0;
        pool.free_stack[counters.free_blocks] = own;
        counters.free_blocks++;
        table[depth] = named;
      } else {
        lease.unnameable = 1;
      }
    }
  }
}

}  // namespace kvasir

extern "C" __global__ void __launch_bounds__(1024, 1)
    kvasir_pool_commit_plan(const kvasir::DevicePool* memory, kvasir::CommitRequest* requests,
                            uint32_t count, kvasir::PoolResult* result) {
  KVASIR_SHARED(kvasir::CommitPlanScratch, shared);
  kvasir::commit_plan(*memory, requests, count, result, shared);
}

extern "C" __global__ void __launch_bounds__(1024, 1)
    kvasir_pool_commit_claim(const kvasir::DevicePool* memory,
                             const kvasir::CommitRequest* requests) {
  kvasir::commit_claim<kvasir::BlockTeam>(*memory, requests);
}

extern "C" __global__ void __launch_bounds__(1024, 1)
    kvasir_pool_commit_name(const kvasir::DevicePool* memory,
                            const kvasir::CommitRequest* requests) {
  kvasir::commit_name<kvasir::BlockTeam>(*memory, requests);
}

extern "C" __global__ void __launch_bounds__(1024, 1)
    kvasir_pool_commit_check(const kvasir::DevicePool* memory,
                             const kvasir::CommitRequest* requests) {
  kvasir::commit_check<kvasir::BlockTeam>(*memory, requests);
}

extern "C" __global__ void __launch_bounds__(1024, 1)
    kvasir_pool_commit_finish(const kvasir::DevicePool* memory,
                              const kvasir::CommitRequest* requests) {
  KVASIR_SHARED(kvasir::CommitFinishScratch, shared);
  kvasir::commit_finish<kvasir::BlockTeam>(*memory, requests, shared);
}

extern "C" __global__ void __launch_bounds__(1024, 1)
    kvasir_pool_commit_sequential(const kvasir::DevicePool* memory,
                                  const kvasir::CommitRequest* requests) {
  kvasir::commit_sequential(*memory, requests);
}
