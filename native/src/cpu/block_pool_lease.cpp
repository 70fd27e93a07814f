// Leases of a block pool: what a batch of requests matches, and which of them are admitted.

#include "kvasir/block_pool.hpp"

namespace kvasir {

PoolResult BlockPool::lease(LeaseRequest* requests, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (requests[i].blocks > shape_.max_blocks_per_lease) {
      return {PoolError::kTooManyBlocks, i};
    }
  }
  // Until a request is answered, its `lease` holds the last block it matched.
  for (uint32_t i = 0; i < count; i++) {
    requests[i].lease = static_cast<int32_t>(match_and_pin(requests[i]));
  }
  const int64_t available = available_blocks();
  int64_t wanted = 0;
  uint64_t new_blocks = 0;
  uint32_t admitted = 0;
  for (bool fits = true; admitted < count && fits;) {
    const LeaseRequest& request = requests[admitted];
    const int64_t missing = request.blocks - request.matched_blocks;
    const int64_t sum = wanted + missing + request.reserve_blocks;
    fits = sum <= available && admitted < free_lease_count_;
    if (fits) {
      wanted = sum;
      new_blocks += static_cast<uint64_t>(missing);
      admitted++;
    }
  }
  refuse(requests, admitted, count, wanted - available);
  evict_shortfall(new_blocks);
  for (uint32_t i = 0; i < admitted; i++) {
    admit(requests[i], static_cast<uint32_t>(requests[i].lease));
  }
  publish_occupancy();
  return {PoolError::kNone, 0};
}

// Refuses the requests from `admitted` on. `missing`: the blocks that are missing before them.
void BlockPool::refuse(LeaseRequest* requests, uint32_t admitted, uint32_t count, int64_t missing) {
  for (uint32_t i = admitted; i < count; i++) {
    missing += requests[i].blocks - requests[i].matched_blocks;
    missing += requests[i].reserve_blocks;
    requests[i].missing_blocks = missing > 0 ? missing : 0;
  }
  for (uint32_t i = count; i-- > admitted;) {
    unpin(static_cast<uint32_t>(requests[i].lease));
    requests[i].matched_blocks = 0;
    requests[i].lease = kRefused;
  }
}

// References the matched leading blocks, root first; returns the last one.
uint32_t BlockPool::match_and_pin(LeaseRequest& request) {
  const CacheScope scope{request.lora_task_id, request.salt_id, request.presence_mask};
  uint32_t end =
      request.matchable_blocks < request.blocks ? request.matchable_blocks : request.blocks;
  // A two-stage pipeline: bucket lines are prefetched 2 * kLookAhead blocks ahead, the records and
  // tokens that they point to kLookAhead ahead.
  uint32_t candidates[kLookAhead];
  for (uint32_t i = 0; i < end && i < 2 * kLookAhead; i++) {
    directory_.prefetch(request.hashes[i]);
  }
  uint32_t looked_up = 0;
  uint32_t parent = kNoBlock;
  uint32_t matched = 0;
  while (matched < end) {
    for (; looked_up < end && looked_up < matched + kLookAhead; looked_up++) {
      const uint32_t candidate = directory_.find(request.hashes[looked_up]);
      if (candidate == kNoBlock) {
        end = looked_up;
        break;
      }
      candidates[looked_up % kLookAhead] = candidate;
      prefetch(&records_[candidate]);
      prefetch(tokens_of(candidate));
      if (looked_up + 2 * kLookAhead < end) {
        directory_.prefetch(request.hashes[looked_up + 2 * kLookAhead]);
      }
    }
    if (matched == end) {
      break;
    }
    const uint32_t block = candidates[matched % kLookAhead];
    if (!same_content(block, matched, parent, scope,
                      request.tokens + static_cast<size_t>(matched) * shape_.tokens_per_block)) {
      break;
    }
    reference(block);
    parent = block;
    matched++;
  }
  request.matched_blocks = matched;
  return parent;
}

// Undoes match_and_pin: the exact reverse of its references and unlinkings.
void BlockPool::unpin(uint32_t last_block) {
  for (uint32_t block = last_block; block != kNoBlock; block = records_[block].parent) {
    BlockRecord& record = records_[block];
    if (--record.references == 0) {
      records_[record.previous].next = block;
      records_[record.next].previous = block;
      cached_blocks_++;
      active_blocks_--;
    }
  }
}

void BlockPool::admit(LeaseRequest& request, uint32_t last_block) {
  const int32_t lease = free_leases_[--free_lease_count_];
  LeaseRecord& record = leases_[static_cast<size_t>(lease)];
  record.scope = {request.lora_task_id, request.salt_id, request.presence_mask};
  record.blocks = request.blocks;
  record.committed_blocks = request.matched_blocks;
  record.reserved_blocks = request.reserve_blocks;
  record.in_use = true;
  record.unnameable = false;
  uint32_t* blocks = table(lease);
  uint32_t depth = request.matched_blocks;
  for (uint32_t block = last_block; depth-- > 0; block = records_[block].parent) {
    blocks[depth] = block;
  }
  for (uint32_t i = request.matched_blocks; i < request.blocks; i++) {
    blocks[i] = take_free_block(i);
  }
  reserved_blocks_ += request.reserve_blocks;
  tick_++;
  request.lease = lease;
  request.missing_blocks = 0;
}

}  // namespace kvasir
