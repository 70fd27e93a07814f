// Requests to a pool and their results: plain structs, in host or in device memory.
#pragma once

#include "kvasir/platform.hpp"

namespace kvasir {

struct PoolShape {
  uint32_t capacity_blocks;
  uint32_t tokens_per_block;
  uint32_t max_leases;
  uint32_t max_blocks_per_lease;
  uint32_t event_capacity;
};

// LoRA adapter and cache salt; bits 0 and 1 of the mask mark which are present.
struct CacheScope {
  uint64_t lora_task_id;
  uint64_t salt_id;
  uint32_t presence_mask;
};

// One request of a lease batch, with its result. Mirrored by PoolRecords.java.
struct LeaseRequest {
  const uint32_t* tokens;  // of the matchable blocks
  const uint64_t* hashes;  // of the matchable blocks
  uint64_t lora_task_id;
  uint64_t salt_id;
  uint32_t presence_mask;
  uint32_t matchable_blocks;
  uint32_t blocks;
  uint32_t reserve_blocks;
  int32_t lease;  // result, or kRefused
  uint32_t matched_blocks;
  int64_t missing_blocks;
};
static_assert(sizeof(LeaseRequest) == 64, "PoolRecords.java relies on it");

struct ExtendRequest {
  int32_t lease;
  uint32_t blocks;
  int64_t missing_blocks;  // result
};
static_assert(sizeof(ExtendRequest) == 16, "PoolRecords.java relies on it");

struct CommitRequest {
  const uint32_t* tokens;  // of block from_block on
  const uint64_t* hashes;  // of block from_block on
  int32_t lease;
  uint32_t from_block;
  uint32_t to_block;
  uint32_t unused;
};
static_assert(sizeof(CommitRequest) == 32, "PoolRecords.java relies on it");

enum class BlockEventKind : uint32_t { kStored = 0, kRemoved = 1, kCleared = 2 };

struct BlockEvent {
  uint64_t sequence;
  uint64_t hash;
  uint64_t parent_hash;
  BlockEventKind kind;
  uint32_t depth;
};
static_assert(sizeof(BlockEvent) == 32, "PoolRecords.java relies on it");

// Why a batch was rejected without effect.
enum class PoolError : int32_t {
  kNone = 0,
  kUnknownLease = 1,
  kLeaseGivenTwice = 2,
  kTooManyBlocks = 3,
  kWrongFromBlock = 4,
  kBeyondLease = 5,
};

// The error and the first entry that caused it.
struct PoolResult {
  PoolError error;
  uint32_t entry;
};

constexpr int32_t kRefused = -1;

enum class PoolOperationKind : uint32_t { kLease = 0, kExtend = 1, kCommit = 2, kRelease = 3 };

// One batch of a submission that a single thread block carries out. Mirrored by PoolKernels.java.
struct PoolOperation {
  void* entries;  // LeaseRequest, ExtendRequest, CommitRequest or int32_t; in device memory
  void* answers;  // where the host reads lease and extend requests with their results
  PoolResult* result;
  PoolOperationKind kind;
  uint32_t count;
};
static_assert(sizeof(PoolOperation) == 32, "PoolKernels.java relies on it");

struct PoolOperations {
  PoolOperation operations[8];
};

}  // namespace kvasir
