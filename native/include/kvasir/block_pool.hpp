// One rank's block pool in host memory. BlockPool.java defines the behaviour; this file describes
// the implementation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kvasir/block_directory.hpp"
#include "kvasir/event_ring.hpp"
#include "kvasir/occupancy_page.hpp"
#include "kvasir/pool_batch.hpp"
#include "kvasir/zeroed_array.hpp"

namespace kvasir {

// Design.
//
// All state is in arrays allocated once; no operation allocates. A block is in exactly one place:
// the free stack; the recency list (named and unreferenced); or one or more lease tables. Each
// block has a 64-byte record, its tokens, a free-stack entry and its share of the directory.
//
// Recency without sorting. The eviction order is (tick, -depth, sequence hash). A block becomes
// evictable only when a release drops its last reference, and that release stamps it with a tick
// newer than every other. Appending a release's blocks to the recency list, deepest first,
// therefore keeps the list in eviction order, and evicting k blocks takes its first k. All blocks
// of one tick belong to one request and differ in depth, so the hash never decides. The stamps of
// referenced blocks are not read until a release renews them, so leases and extensions only advance
// the tick.
//
// Refusal without side effects. A lease batch pins every match (unlinking cached blocks from the
// recency list) before admission is decided. The refused requests are a suffix of the batch, so
// their pins are undone in exactly the reverse order; an unlinked block keeps the numbers of its
// neighbours, so relinking in that order restores the list.
//
// A prefix never loses its head. A lease that references a block also references its ancestors, so
// they are released no earlier and, in the same release, appended later.
//
// Clear marks every lease so that its blocks are never named: their KV builds on KV that was
// declared stale. The same mark is set on a lease whose block met a collision, because naming its
// later blocks would leave a gap.
class BlockPool {
 public:
  explicit BlockPool(const PoolShape& shape);
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  PoolResult lease(LeaseRequest* requests, uint32_t count);
  PoolResult extend(ExtendRequest* requests, uint32_t count);
  PoolResult commit(const CommitRequest* requests, uint32_t count);
  PoolResult release(const int32_t* leases, uint32_t count);
  void clear();

  EventRing& events() { return events_; }
  const EventRing& events() const { return events_; }

  // The block table of a lease, or null for an unknown one.
  const uint32_t* block_table(int32_t lease, uint32_t* length) const;

  const PoolShape& shape() const { return shape_; }
  const Directory& directory() const { return directory_.view(); }
  const OccupancyPage& page() const { return *page_.data(); }

 private:
  static constexpr uint32_t kLookAhead = 8;  // prefetch distance, in blocks

  enum class BlockState : uint32_t { kFree = 0, kUnnamed = 1, kNamed = 2 };

  struct alignas(64) BlockRecord {
    uint64_t hash;
    uint64_t tick;
    uint64_t lora_task_id;
    uint64_t salt_id;
    uint32_t presence_mask;
    uint32_t references;
    uint32_t depth;
    uint32_t parent;
    uint32_t previous;  // in the recency list; capacity is the list's head
    uint32_t next;
    BlockState state;
  };

  struct LeaseRecord {
    CacheScope scope;
    uint32_t blocks;
    uint32_t committed_blocks;
    uint32_t reserved_blocks;
    bool in_use;
    bool unnameable;
    bool marked;  // seen in the batch being validated
  };

  LeaseRecord* find_lease(int32_t lease);
  template <typename Entry, typename Check>
  PoolResult validate(const Entry* entries, uint32_t count, Check check);
  uint32_t* table(int32_t lease) {
    return &tables_[static_cast<size_t>(lease) * shape_.max_blocks_per_lease];
  }
  const uint32_t* tokens_of(uint32_t block) const {
    return &tokens_[static_cast<size_t>(block) * shape_.tokens_per_block];
  }
  bool same_content(uint32_t block, uint32_t depth, uint32_t parent, const CacheScope& scope,
                    const uint32_t* tokens) const;
  uint32_t match_and_pin(LeaseRequest& request);
  void unpin(uint32_t last_block);
  void refuse(LeaseRequest* requests, uint32_t admitted, uint32_t count, int64_t missing);
  void admit(LeaseRequest& request, uint32_t last_block);
  void name_block(LeaseRecord& record, uint32_t* table, uint32_t depth, uint64_t hash,
                  const uint32_t* tokens);
  int64_t available_blocks() const;
  void evict_shortfall(uint64_t wanted_blocks);
  uint32_t take_free_block(uint32_t depth);
  void free_block(uint32_t block);
  void reference(uint32_t block);
  void link_before(uint32_t block, uint32_t next);
  void unlink(uint32_t block);
  void publish_occupancy();

  const PoolShape shape_;
  BlockDirectory directory_;
  ZeroedArray<BlockRecord> records_;  // one more than blocks: the head of the recency list
  ZeroedArray<uint32_t> tokens_;
  ZeroedArray<uint32_t> free_stack_;
  ZeroedArray<LeaseRecord> leases_;
  ZeroedArray<uint32_t> tables_;
  ZeroedArray<int32_t> free_leases_;
  EventRing events_;
  ZeroedArray<OccupancyPage> page_;
  uint32_t free_count_ = 0;
  uint32_t free_lease_count_ = 0;
  uint64_t cached_blocks_ = 0;
  uint64_t active_blocks_ = 0;
  uint64_t reserved_blocks_ = 0;
  uint64_t evicted_blocks_ = 0;
  uint64_t tick_ = 0;
};

// What the loops over blocks call is here, so that both of the pool's sources inline it.

inline bool BlockPool::same_content(uint32_t block, uint32_t depth, uint32_t parent,
                                    const CacheScope& scope, const uint32_t* tokens) const {
  // Equal parent blocks imply equal prefixes, scope and depth included.
  const BlockRecord& record = records_[block];
  return record.parent == parent && record.depth == depth &&
         record.presence_mask == scope.presence_mask && record.lora_task_id == scope.lora_task_id &&
         record.salt_id == scope.salt_id &&
         std::memcmp(tokens_of(block), tokens, shape_.tokens_per_block * sizeof(uint32_t)) == 0;
}

inline uint32_t BlockPool::take_free_block(uint32_t depth) {
  const uint32_t block = free_stack_[--free_count_];
  BlockRecord& record = records_[block];
  record.references = 1;
  record.depth = depth;
  record.state = BlockState::kUnnamed;
  active_blocks_++;
  return block;
}

inline void BlockPool::free_block(uint32_t block) {
  records_[block].state = BlockState::kFree;
  free_stack_[free_count_++] = block;
}

// References a named block; removes it from the recency list if it was unreferenced.
inline void BlockPool::reference(uint32_t block) {
  if (records_[block].references++ == 0) {
    unlink(block);
    cached_blocks_--;
    active_blocks_++;
  }
}

inline void BlockPool::link_before(uint32_t block, uint32_t next) {
  const uint32_t previous = records_[next].previous;
  records_[block].previous = previous;
  records_[block].next = next;
  records_[previous].next = block;
  records_[next].previous = block;
}

// The block keeps its neighbours' numbers, so that unpin can reinsert it.
inline void BlockPool::unlink(uint32_t block) {
  const BlockRecord& record = records_[block];
  records_[record.previous].next = record.next;
  records_[record.next].previous = record.previous;
}

}  // namespace kvasir
