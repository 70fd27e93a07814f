// A block pool whose directory and state live in device memory: the view that kernels work on.
//
// The rules are those of BlockPool.java and the results are those of the pool in block_pool.hpp;
// block numbers may differ. Kernels (src/cuda) mutate, in launches on the rank's own stream.
//
// Design.
//
// One allocation, carved by device_pool_view(); it begins with the view itself, so that a pool is
// one address to every kernel. The occupancy page and the event ring are outside of it, in memory
// that the host reads too.
//
// Recency without a list. The eviction order is (tick, -depth). Both are packed into one 64-bit
// key, unique among evictable blocks, because within one tick all blocks are of one request and
// differ in depth. `stamps` holds the key of a block's last release, `evictable` the same while
// nobody holds the block, and kNotEvictable otherwise. Victims are the k smallest of `evictable`, a
// radix selection that reads this one array. Within a release, which the CPU pool carries out in
// order, a block's stamp is the greatest of the entries that held it, and whoever drops the last
// reference makes it evictable: the entry that would have come last in order gave that stamp.
//
// Phases. Whatever must be finished everywhere before something else begins is a launch of its own;
// within a launch threads meet only in atomics whose outcome does not depend on their order, or
// decides block numbers alone. Decisions (admitted requests, shortfall, collisions) are left in
// `plan` for the launches behind, so that nothing comes back to the host in between.
//
// Lease.    match: pins all matches. plan: validates, admits the longest prefix by a prefix sum.
//           unpin: gives refused pins back. eviction. admit: fills the block tables.
// Extend.   plan, eviction, grow.
// Eviction. select: one digit of the k-th smallest key per launch, at most kSelectPasses launches,
//           the later ones return at once when it is known. take: victims leave the directory.
//           removed: their events, ordered by counting the smaller keys.
// Commit.   plan: numbers the batch's blocks, in the order of entries and then of depth. claim:
//           every block finds its name in the directory or puts it there; the word beside a new
//           name becomes the lowest ordinal of those who claim it.
//           name: the winners write content into their blocks. check: the others compare theirs
//           with it. finish: names, references, events. If any content differs, which is a
//           collision of hashes, finish takes the batch's names out again and `sequential` carries
//           the batch out in order.
// Release.  plan, drop.   Clear. clear.   Behind the operations of a submission: occupancy.
//
// Ordinals of a commit are below the pool's capacity. A batch names each lease once and only blocks
// that its lease has not committed, and those are in one table, once: they came off the free stack
// for that table (admit, grow; what a lease matched counts as committed from the start), and a
// table gets a block of another's only by its name, when the block is matched or shared by a
// commit. A block that is not committed has no name: only the commits of its lease name it, and
// they move `committed_blocks` past it. Clear takes names away and moves no block; a lease that
// gets no names any more commits as others do. `to_block` is never below `from_block`.
//
// Probes beside mutations. The directory's argument (block_directory_core.hpp) holds with parallel
// inserts, and with parallel erases, which never share a launch: a key's `passed` marks are raised,
// then a fence, then the key is published by compare-and-swap; the key is zeroed, then a fence,
// then the marks are lowered. Marks of a look-up that found its key already there are lowered
// again; too high a mark only prolongs a search. Loads of keys and marks are relaxed, hence never
// served from a multiprocessor's own cache; a bucket's words are loaded together, each of them
// whole, in no order among themselves, and none is needed. Keys of one batch appear in any order,
// so a probe beside a commit may see a later block's name before an earlier one's: a match is
// advisory.
//
// The page. The sequence becomes odd, a system-scope fence, the counts, a system-scope fence, the
// sequence becomes even. A reader on the host that loads a new count with acquire therefore also
// sees the odd sequence. The ring's order is argued in event_ring_core.hpp.
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
constexpr uint32_t kSelectBits = 11;
constexpr uint32_t kSelectBins = 1u << kSelectBits;
constexpr uint32_t kSelectPasses = (64 + kSelectBits - 1) / kSelectBits;

// What a match compares: one 32-byte sector of memory.
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
  uint32_t named;  // blocks that the running commit names
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
};

// Decisions of the operation that is running, for its later launches.
struct alignas(64) PoolPlan {
  uint64_t failure;     // lowest entry * 2^32 + error of a lease batch; kNoFailure in between
  uint64_t first_tick;  // tick before the operation
  uint64_t first_event;
  uint64_t select_base;  // the wanted key is in [select_base, select_base + 2^select_bits)
  uint64_t threshold;    // keys up to this one are victims
  uint64_t oldest_key;
  uint32_t entries;     // carried out: all, the admitted ones, or none
  uint32_t stack_top;   // of the free stack after eviction, before allocation
  uint32_t stack_base;  // of the victims in the free stack
  uint32_t victims;
  uint32_t taken;
  uint32_t select_wanted;
  uint32_t select_bits;
  uint32_t arrived;  // blocks of threads that have finished their part of a launch
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
  uint32_t* histogram;
};

// Whether block numbers and ordinals of a commit leave their marking bits free.
KVASIR_HD bool device_pool_supports(const PoolShape& shape) {
  return shape.capacity_blocks > 0 && shape.capacity_blocks <= kMaxCapacity &&
         shape.tokens_per_block > 0 && shape.max_leases > 0 && shape.max_blocks_per_lease > 0;
}

namespace detail {

// Hands out consecutive aligned arrays of one allocation.
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

// Lays a pool out from `base` (aligned to 256 bytes) on and returns the bytes it takes. The arrays
// are not touched: with base 0 this is a question of size alone.
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
  carver.array(&view->histogram, kSelectBins);
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
  return carver.next - base;
}

KVASIR_HD uint64_t device_pool_bytes(const PoolShape& shape) {
  DevicePool view{};
  return device_pool_view(0, shape, &view);
}

// Position of a block in the eviction order. Ticks are below 2^(64 - depth_bits): with leases of a
// million blocks, a thousand operations a second for five hundred years.
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

// Everything of a name but its tokens. With the same parent block everything before is the same.
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
