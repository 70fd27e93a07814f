// A block pool with its directory and state in device memory: the view used by kernels.
//
// BlockPool.java defines the behaviour. Results equal those of the pool in block_pool.hpp, except
// that block numbers may differ. Kernels (src/cuda) modify the pool in launches on the rank's own
// stream.
//
// Design.
//
// A single allocation, partitioned by device_pool_view(). It starts with the view itself, so
// kernels take one address per pool. The occupancy page and the event ring are separate, in memory
// that the host also reads.
//
// Recency. The eviction order is (tick, -depth). Both are packed into one 64-bit key. Keys are
// unique among evictable blocks, because all blocks of one tick belong to one request and differ in
// depth. `stamps` holds the key of a block's last release; `evictable` holds the same key while the
// block is unreferenced, and kNotEvictable otherwise. The queue has (key, block) of every evictable
// block in the order of keys: ticks only grow, so each release appends its blocks in order. An
// entry is valid while its key is the block's in `evictable`; others are skipped, and left out when
// the queue is compacted. The victims are the first valid entries. The CPU pool processes a
// release's entries in order. Here, a block's stamp is the greatest of the entries that held it,
// and the thread that drops the last reference makes it evictable. The result is the same, because
// the last entry in order has the greatest stamp.
//
// Phases. Work that must be complete everywhere before the next step is a separate launch, or ends
// with a barrier in the single thread block of pool_submission.cu. Within a phase threads interact
// only through atomics whose outcome is independent of their order, or affects only block numbers.
// Decisions (admitted requests, shortfall, collisions) are stored in `plan` for later phases,
// without a round trip to the host.
//
// Lease.    match: pins all matches. plan: validates, admits the longest prefix by a prefix sum.
//           unpin: releases the pins of refused requests. eviction. admit: fills the block tables.
// Extend.   plan, eviction, grow.
// Eviction. list: the first valid entries of the queue. take: victims leave the directory; their
//           events.
// Commit.   plan: numbers the batch's blocks, in the order of entries and then of depth. claim:
//           every block finds its hash in the directory or inserts it; the word next to a new
//           hash becomes the lowest ordinal that claims it.
//           name: the winners write content into their blocks. check: the others compare theirs
//           with it. finish: names, references, events. If any content differs, which is a hash
//           collision, finish removes the batch's hashes again and `sequential` commits the batch
//           in order.
// Release.  plan, drop, queue.   Clear. clear.   After the operations of a submission: occupancy.
//
// Ordinals of a commit are below the pool's capacity. A batch lists each lease once, with only
// blocks that the lease has not committed. Each of these is in exactly one table: it was taken off
// the free stack for that table (admit, grow), and matched blocks count as committed from the
// start. A table gets another lease's block only by name, when the block is matched or shared by a
// commit. An uncommitted block has no name: only commits of its lease name it, and they advance
// `committed_blocks` past it. Clear removes names without moving blocks; a lease that cannot name
// blocks any more commits as others do. `to_block` is never below `from_block`.
//
// Probes concurrent with mutations. A look-up must find a key whose insertion is in a launch before
// it and whose erasure is in a launch after it. The marks of such a key are complete and stay, and
// neither parallel inserts nor parallel erases, which never share a phase, change its slot, so no
// fence is needed. Any answer is right for the keys that a concurrent launch inserts or erases. A
// claim that finds its key already present decrements its marks again; a mark that is too high only
// prolongs a search. Loads of keys and marks are relaxed and therefore never served from an SM's L1
// cache. The words of a bucket are loaded together, each atomically; no order among them is needed.
// Keys of one batch appear in any order, so a probe during a commit may see a later block's hash
// before an earlier one's; a match is advisory.
//
// The page. The sequence becomes odd, a system-scope fence, the counts, a system-scope fence, the
// sequence becomes even. A host reader that loads a new count with acquire therefore also sees the
// odd sequence. The ring's memory order is described in event_ring_core.hpp.
#pragma once

#include "kvasir/block_directory_core.hpp"
#include "kvasir/event_ring_core.hpp"
#include "kvasir/occupancy_page.hpp"
#include "kvasir/pool_batch.hpp"

namespace kvasir {

constexpr uint64_t kNotEvictable = ~uint64_t{0};
constexpr uint32_t kNamedBit = 0x80000000u;  // in `holders`
constexpr uint32_t kClaimBit = 0x80000000u;  // in the directory's blocks, while a commit runs
constexpr uint32_t kMaxCapacity = 1u << 30;  // so that both bits are free
constexpr uint32_t kUnmarked = 0xffffffffu;  // of a lease outside validation
constexpr uint64_t kNoFailure = ~uint64_t{0};

// The fields that a match compares: one 32-byte sector of memory.
struct alignas(32) BlockName {
  uint64_t hash;
  uint64_t lora_task_id;
  uint64_t salt_id;
  uint32_t parent;
  uint32_t depth_and_presence;  // depth * 4 + presence mask
};

struct DeviceLease {
  CacheScope scope;
  uint32_t blocks;
  uint32_t committed_blocks;
  uint32_t reserved_blocks;
  uint32_t in_use;
  uint32_t unnameable;
  uint32_t mark;   // lowest entry of the batch being validated
  uint32_t named;  // blocks named by the current commit
};

struct alignas(64) PoolCounters {
  uint64_t tick;
  uint64_t oldest_tick;  // no evictable block is older; exact unless oldest_stale
  uint64_t reserved_blocks;
  uint64_t evicted_blocks;
  uint64_t next_event;
  uint64_t page_sequence;
  uint32_t free_blocks;
  uint32_t cached_blocks;
  uint32_t active_blocks;
  uint32_t free_leases;
  uint32_t oldest_stale;
  uint32_t queue_begin;  // no entry before is valid
  uint32_t queue_end;
};

// Decisions of the current operation, for its later launches.
struct alignas(64) PoolPlan {
  uint64_t failure;     // lowest entry * 2^32 + error of a lease batch; kNoFailure in between
  uint64_t first_tick;  // tick before the operation
  uint64_t first_event;
  uint32_t entries;     // entries to execute: all, the admitted ones, or none
  uint32_t stack_top;   // of the free stack after eviction, before allocation
  uint32_t stack_base;  // of the victims in the free stack
  uint32_t victims;
  uint32_t named;
  uint32_t collided;
};

struct DevicePool {
  PoolShape shape;
  uint32_t depth_bits;
  Directory directory;
  PoolCounters* counters;
  PoolPlan* plan;
  OccupancyPage* page;
  EventRingHead* ring;
  BlockName* names;
  uint32_t* tokens;
  uint32_t* holders;  // number of leases that hold a block, and kNamedBit
  uint64_t* stamps;
  uint64_t* evictable;
  uint32_t* free_stack;
  DeviceLease* leases;
  int32_t* free_leases;
  uint32_t* tables;
  uint32_t* claim_positions;  // by ordinal: where in the directory
  uint32_t* claim_blocks;     // by ordinal: the claimant's own block
  uint64_t* queue_keys;       // of twice the capacity
  uint32_t* queue_blocks;
  uint32_t* victims;
};

// Whether block numbers and ordinals of a commit leave their marking bits free.
KVASIR_HD bool device_pool_supports(const PoolShape& shape) {
  return shape.capacity_blocks > 0 && shape.capacity_blocks <= kMaxCapacity &&
         shape.tokens_per_block > 0 && shape.max_leases > 0 && shape.max_blocks_per_lease > 0;
}

namespace detail {

// Assigns consecutive aligned arrays of one allocation.
struct Carver {
  uint64_t next;

  template <typename T>
  KVASIR_HD void array(T** to, uint64_t count) {
    next = (next + 255) / 256 * 256;
    *to = reinterpret_cast<T*>(static_cast<uintptr_t>(next));
    next += count * sizeof(T);
  }
};

}  // namespace detail

// Lays out a pool from `base` (aligned to 256 bytes) and returns its size in bytes. The arrays are
// not touched, so base 0 can be used to compute the size.
KVASIR_HD uint64_t device_pool_view(uint64_t base, const PoolShape& shape, DevicePool* view) {
  const uint64_t blocks = shape.capacity_blocks;
  const uint64_t buckets = directory_buckets(blocks);
  const uint64_t table_words = uint64_t{shape.max_leases} * shape.max_blocks_per_lease;
  view->shape = shape;
  view->depth_bits = 0;
  while ((uint64_t{1} << view->depth_bits) < shape.max_blocks_per_lease) {
    view->depth_bits++;
  }
  detail::Carver carver{base + sizeof(DevicePool)};
  carver.array(&view->counters, 1);
  carver.array(&view->plan, 1);
  view->directory.bucket_count = buckets;
  carver.array(&view->directory.buckets, buckets);
  carver.array(&view->directory.blocks, buckets * 8);
  carver.array(&view->names, blocks);
  carver.array(&view->tokens, blocks * shape.tokens_per_block);
  carver.array(&view->holders, blocks);
  carver.array(&view->stamps, blocks);
  carver.array(&view->evictable, blocks);
  carver.array(&view->free_stack, blocks);
  carver.array(&view->leases, shape.max_leases);
  carver.array(&view->free_leases, shape.max_leases);
  carver.array(&view->tables, table_words);
  carver.array(&view->claim_positions, blocks);
  carver.array(&view->claim_blocks, blocks);
  carver.array(&view->queue_keys, 2 * blocks);
  carver.array(&view->queue_blocks, 2 * blocks);
  view->victims = view->claim_blocks;  // a commit does not evict
  return carver.next - base;
}

KVASIR_HD uint64_t device_pool_bytes(const PoolShape& shape) {
  DevicePool view{};
  return device_pool_view(0, shape, &view);
}

// Position of a block in the eviction order. Ticks are below 2^(64 - depth_bits): with leases of a
// million blocks, this suffices for a thousand operations a second over five hundred years.
KVASIR_HD uint64_t eviction_key(const DevicePool& pool, uint64_t tick, uint32_t depth) {
  const uint64_t deepest = (uint64_t{1} << pool.depth_bits) - 1;
  return tick << pool.depth_bits | (deepest - depth);
}

KVASIR_HD uint32_t* block_table(const DevicePool& pool, int32_t lease) {
  return pool.tables + static_cast<uint64_t>(lease) * pool.shape.max_blocks_per_lease;
}

KVASIR_HD uint32_t* tokens_of(const DevicePool& pool, uint32_t block) {
  return pool.tokens + static_cast<uint64_t>(block) * pool.shape.tokens_per_block;
}

// Compares all of a name except its tokens. Equal parent blocks imply equal prefixes.
KVASIR_HD bool same_place(const BlockName& name, uint32_t depth, uint32_t parent,
                          const CacheScope& scope) {
  return name.parent == parent && name.depth_and_presence == depth * 4 + scope.presence_mask &&
         name.lora_task_id == scope.lora_task_id && name.salt_id == scope.salt_id;
}

KVASIR_HD int64_t available_blocks(const PoolCounters& counters) {
  return static_cast<int64_t>(counters.free_blocks) + counters.cached_blocks -
         static_cast<int64_t>(counters.reserved_blocks);
}

}  // namespace kvasir
