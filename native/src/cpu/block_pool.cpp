#include "kvasir/block_pool.hpp"

#include <cstring>

namespace kvasir {

namespace {

// Fails before allocating or overflowing.
PoolShape checked(const PoolShape& shape) {
  if (shape.capacity_blocks == 0 || shape.tokens_per_block == 0 || shape.max_leases == 0 ||
      shape.max_blocks_per_lease == 0 || shape.capacity_blocks >= kNoBlock) {
    throw std::bad_alloc();
  }
  return shape;
}

}  // namespace

BlockPool::BlockPool(const PoolShape& shape)
    : shape_(checked(shape)),
      directory_(shape.capacity_blocks),
      records_(static_cast<size_t>(shape.capacity_blocks) + 1),
      tokens_(static_cast<size_t>(shape.capacity_blocks) * shape.tokens_per_block),
      free_stack_(shape.capacity_blocks),
      leases_(shape.max_leases),
      tables_(static_cast<size_t>(shape.max_leases) * shape.max_blocks_per_lease, PageSize::kSmall),
      free_leases_(shape.max_leases),
      events_(shape),
      page_(1) {
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
}

}  // namespace kvasir
