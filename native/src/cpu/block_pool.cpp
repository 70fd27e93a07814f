#include "kvasir/block_pool.hpp"

#include <cstring>

namespace kvasir {

namespace {

// Prefetch distance, in blocks.
constexpr uint32_t kLookAhead = 8;

// Fails before allocating or overflowing.
PoolShape checked(const PoolShape& shape) {
  if (shape.capacity_blocks == 0 || shape.tokens_per_block == 0 || shape.max_leases == 0 ||
      shape.max_blocks_per_lease == 0 || shape.capacity_blocks >= kNoBlock) {
    throw std::bad_alloc();
  }
  return shape;
}

}  // namespace

BlockPool::BlockPool(const PoolShape& shape, const PublishedMemory& published)
    : shape_(checked(shape)),
      directory_(shape.capacity_blocks),
      records_(static_cast<size_t>(shape.capacity_blocks) + 1),
      tokens_(static_cast<size_t>(shape.capacity_blocks) * shape.tokens_per_block),
      free_stack_(shape.capacity_blocks),
      leases_(shape.max_leases),
      tables_(static_cast<size_t>(shape.max_leases) * shape.max_blocks_per_lease, PageSize::kSmall),
      free_leases_(shape.max_leases),
      events_(shape, published.ring),
      page_(1),
      published_page_(published.page) {
  const uint32_t head = shape_.capacity_blocks;
  records_[head].previous = head;
  records_[head].next = head;
  for (uint32_t block = shape_.capacity_blocks; block-- > 0;) {
    free_stack_[free_count_++] = block;
  }
  for (uint32_t lease = shape_.max_leases; lease-- > 0;) {
    free_leases_[free_lease_count_++] = static_cast<int32_t>(lease);
  }
  publish_occupancy();
}

// ---- lease ----------------------------------------------------------------------------------

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
  for (uint32_t i = admitted; i < count; i++) {
    wanted += requests[i].blocks - requests[i].matched_blocks;
    wanted += requests[i].reserve_blocks;
    requests[i].missing_blocks = wanted > available ? wanted - available : 0;
  }
  for (uint32_t i = count; i-- > admitted;) {
    unpin(static_cast<uint32_t>(requests[i].lease));
    requests[i].matched_blocks = 0;
    requests[i].lease = kRefused;
  }
  evict_shortfall(new_blocks);
  for (uint32_t i = 0; i < admitted; i++) {
    admit(requests[i], static_cast<uint32_t>(requests[i].lease));
  }
  publish_occupancy();
  return {PoolError::kNone, 0};
}

bool BlockPool::same_content(uint32_t block, uint32_t depth, uint32_t parent,
                             const CacheScope& scope, const uint32_t* tokens) const {
  // Equal parent blocks imply equal prefixes, scope and depth included.
  const BlockRecord& record = records_[block];
  return record.parent == parent && record.depth == depth &&
         record.presence_mask == scope.presence_mask && record.lora_task_id == scope.lora_task_id &&
         record.salt_id == scope.salt_id &&
         std::memcmp(tokens_of(block), tokens, shape_.tokens_per_block * sizeof(uint32_t)) == 0;
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

// ---- extend, commit, release, clear -----------------------------------------------------------

BlockPool::LeaseRecord* BlockPool::find_lease(int32_t lease) {
  if (lease < 0 || static_cast<uint32_t>(lease) >= shape_.max_leases) {
    return nullptr;
  }
  LeaseRecord* record = &leases_[static_cast<size_t>(lease)];
  return record->in_use ? record : nullptr;
}

namespace {

int32_t lease_of(int32_t lease) { return lease; }
template <typename Entry>
int32_t lease_of(const Entry& entry) {
  return entry.lease;
}

}  // namespace

// Validates a whole batch before any change: every lease is known, occurs once, and passes.
template <typename Entry, typename Check>
PoolResult BlockPool::validate(const Entry* entries, uint32_t count, Check check) {
  PoolResult result{PoolError::kNone, 0};
  uint32_t marked = 0;
  for (; marked < count; marked++) {
    LeaseRecord* record = find_lease(lease_of(entries[marked]));
    PoolError error = PoolError::kNone;
    if (record == nullptr) {
      error = PoolError::kUnknownLease;
    } else if (record->marked) {
      error = PoolError::kLeaseGivenTwice;
    } else {
      error = check(entries[marked], *record);
    }
    if (error != PoolError::kNone) {
      result = {error, marked};
      break;
    }
    record->marked = true;
  }
  for (uint32_t i = 0; i < marked; i++) {
    find_lease(lease_of(entries[i]))->marked = false;
  }
  return result;
}

PoolResult BlockPool::extend(ExtendRequest* requests, uint32_t count) {
  const PoolResult checked =
      validate(requests, count, [this](const ExtendRequest& request, const LeaseRecord& record) {
        return request.blocks > shape_.max_blocks_per_lease - record.blocks
                   ? PoolError::kTooManyBlocks
                   : PoolError::kNone;
      });
  if (checked.error != PoolError::kNone) {
    return checked;
  }
  const int64_t available = available_blocks();
  int64_t wanted = 0;
  uint64_t new_blocks = 0;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t reserved = find_lease(requests[i].lease)->reserved_blocks;
    const uint32_t beyond = requests[i].blocks > reserved ? requests[i].blocks - reserved : 0;
    wanted += beyond;
    requests[i].missing_blocks = beyond > 0 && wanted > available ? wanted - available : 0;
    if (requests[i].missing_blocks == 0) {
      new_blocks += requests[i].blocks;
    }
  }
  evict_shortfall(new_blocks);
  for (uint32_t i = 0; i < count; i++) {
    if (requests[i].missing_blocks != 0) {
      continue;
    }
    LeaseRecord& record = *find_lease(requests[i].lease);
    uint32_t* blocks = table(requests[i].lease);
    for (uint32_t added = 0; added < requests[i].blocks; added++, record.blocks++) {
      blocks[record.blocks] = take_free_block(record.blocks);
    }
    const uint32_t from_reservation =
        requests[i].blocks < record.reserved_blocks ? requests[i].blocks : record.reserved_blocks;
    record.reserved_blocks -= from_reservation;
    reserved_blocks_ -= from_reservation;
    tick_++;
  }
  publish_occupancy();
  return {PoolError::kNone, 0};
}

PoolResult BlockPool::commit(const CommitRequest* requests, uint32_t count) {
  const PoolResult checked =
      validate(requests, count, [](const CommitRequest& request, const LeaseRecord& record) {
        if (request.from_block != record.committed_blocks) {
          return PoolError::kWrongFromBlock;
        }
        return request.to_block > record.blocks ? PoolError::kBeyondLease : PoolError::kNone;
      });
  if (checked.error != PoolError::kNone) {
    return checked;
  }
  uint64_t most = 0;
  for (uint32_t i = 0; i < count; i++) {
    most += requests[i].to_block - requests[i].from_block;
  }
  events_.reserve(most);
  for (uint32_t i = 0; i < count; i++) {
    const CommitRequest& request = requests[i];
    LeaseRecord& record = *find_lease(request.lease);
    uint32_t* blocks = table(request.lease);
    const uint32_t end = request.to_block - request.from_block;
    for (uint32_t b = 0; b < end && b < kLookAhead; b++) {
      directory_.prefetch(request.hashes[b]);
    }
    for (uint32_t b = 0; b < end && !record.unnameable; b++) {
      if (b + kLookAhead < end) {
        directory_.prefetch(request.hashes[b + kLookAhead]);
      }
      name_block(record, blocks, request.from_block + b, request.hashes[b],
                 request.tokens + static_cast<size_t>(b) * shape_.tokens_per_block);
    }
    record.committed_blocks = request.to_block;
  }
  publish_occupancy();
  return {PoolError::kNone, 0};
}

void BlockPool::name_block(LeaseRecord& record, uint32_t* table, uint32_t depth, uint64_t hash,
                           const uint32_t* tokens) {
  const uint32_t parent = depth == 0 ? kNoBlock : table[depth - 1];
  const uint32_t own = table[depth];
  const uint32_t named = directory_.find(hash);
  if (named != kNoBlock) {
    if (!same_content(named, depth, parent, record.scope, tokens)) {
      record.unnameable = true;
      return;
    }
    reference(named);
    records_[own].references = 0;
    active_blocks_--;
    free_block(own);
    table[depth] = named;
    return;
  }
  BlockRecord& block = records_[own];
  block.hash = hash;
  block.lora_task_id = record.scope.lora_task_id;
  block.salt_id = record.scope.salt_id;
  block.presence_mask = record.scope.presence_mask;
  block.parent = parent;
  block.state = BlockState::kNamed;
  std::memcpy(&tokens_[static_cast<size_t>(own) * shape_.tokens_per_block], tokens,
              shape_.tokens_per_block * sizeof(uint32_t));
  directory_.insert(hash, own);
  events_.emit(BlockEventKind::kStored, hash, parent == kNoBlock ? 0 : records_[parent].hash,
               depth);
}

PoolResult BlockPool::release(const int32_t* leases, uint32_t count) {
  const PoolResult checked =
      validate(leases, count, [](const int32_t&, const LeaseRecord&) { return PoolError::kNone; });
  if (checked.error != PoolError::kNone) {
    return checked;
  }
  const uint32_t head = shape_.capacity_blocks;
  for (uint32_t i = 0; i < count; i++) {
    LeaseRecord& record = *find_lease(leases[i]);
    const uint32_t* blocks = table(leases[i]);
    tick_++;
    for (uint32_t depth = record.blocks; depth-- > 0;) {
      if (depth >= kLookAhead) {
        prefetch(&records_[blocks[depth - kLookAhead]]);
      }
      BlockRecord& block = records_[blocks[depth]];
      block.tick = tick_;
      if (--block.references > 0) {
        continue;
      }
      active_blocks_--;
      if (block.state == BlockState::kNamed) {
        cached_blocks_++;
        link_before(blocks[depth], head);
      } else {
        free_block(blocks[depth]);
      }
    }
    reserved_blocks_ -= record.reserved_blocks;
    record.in_use = false;
    free_leases_[free_lease_count_++] = leases[i];
  }
  publish_occupancy();
  return {PoolError::kNone, 0};
}

void BlockPool::clear() {
  directory_.clear();
  const uint32_t head = shape_.capacity_blocks;
  while (records_[head].next != head) {
    const uint32_t block = records_[head].next;
    unlink(block);
    cached_blocks_--;
    free_block(block);
  }
  for (uint32_t block = 0; block < shape_.capacity_blocks; block++) {
    if (records_[block].state == BlockState::kNamed) {
      records_[block].state = BlockState::kUnnamed;
    }
  }
  for (uint32_t lease = 0; lease < shape_.max_leases; lease++) {
    leases_[lease].unnameable = true;
  }
  events_.reserve(1);
  events_.emit(BlockEventKind::kCleared, 0, 0, 0);
  publish_occupancy();
}

// ---- blocks -----------------------------------------------------------------------------------

int64_t BlockPool::available_blocks() const {
  return static_cast<int64_t>(free_count_) + static_cast<int64_t>(cached_blocks_) -
         static_cast<int64_t>(reserved_blocks_);
}

void BlockPool::evict_shortfall(uint64_t wanted_blocks) {
  if (free_count_ >= wanted_blocks) {
    return;
  }
  events_.reserve(wanted_blocks - free_count_);
  const uint32_t head = shape_.capacity_blocks;
  while (free_count_ < wanted_blocks) {
    const uint32_t block = records_[head].next;
    prefetch(&records_[records_[block].next]);
    unlink(block);
    cached_blocks_--;
    evicted_blocks_++;
    directory_.erase(records_[block].hash);
    events_.emit(BlockEventKind::kRemoved, records_[block].hash, 0, 0);
    free_block(block);
  }
}

uint32_t BlockPool::take_free_block(uint32_t depth) {
  const uint32_t block = free_stack_[--free_count_];
  BlockRecord& record = records_[block];
  record.references = 1;
  record.depth = depth;
  record.state = BlockState::kUnnamed;
  active_blocks_++;
  return block;
}

void BlockPool::free_block(uint32_t block) {
  records_[block].state = BlockState::kFree;
  free_stack_[free_count_++] = block;
}

// References a named block; removes it from the recency list if it was unreferenced.
void BlockPool::reference(uint32_t block) {
  if (records_[block].references++ == 0) {
    unlink(block);
    cached_blocks_--;
    active_blocks_++;
  }
}

void BlockPool::link_before(uint32_t block, uint32_t next) {
  const uint32_t previous = records_[next].previous;
  records_[block].previous = previous;
  records_[block].next = next;
  records_[previous].next = block;
  records_[next].previous = block;
}

// The block keeps its neighbours' numbers, so that unpin can reinsert it.
void BlockPool::unlink(uint32_t block) {
  const BlockRecord& record = records_[block];
  records_[record.previous].next = record.next;
  records_[record.next].previous = record.previous;
}

// ---- tables, page --------------------------------------------------------------------

const uint32_t* BlockPool::block_table(int32_t lease, uint32_t* length) const {
  if (lease < 0 || static_cast<uint32_t>(lease) >= shape_.max_leases ||
      !leases_[static_cast<size_t>(lease)].in_use) {
    return nullptr;
  }
  *length = leases_[static_cast<size_t>(lease)].blocks;
  return &tables_[static_cast<size_t>(lease) * shape_.max_blocks_per_lease];
}

void BlockPool::publish_occupancy() {
  const uint32_t head = shape_.capacity_blocks;
  const uint32_t oldest = records_[head].next;
  events_.publish();
  const Occupancy occupancy{shape_.capacity_blocks,
                            free_count_,
                            cached_blocks_,
                            active_blocks_,
                            reserved_blocks_,
                            evicted_blocks_,
                            oldest == head ? tick_ : records_[oldest].tick,
                            tick_};
  write_occupancy(page_[0], occupancy);
  if (published_page_ != nullptr) {
    write_occupancy(*published_page_, occupancy);
  }
}

}  // namespace kvasir
