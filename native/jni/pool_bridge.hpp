// Block pools for Java. A pool is passed as its address; a batch as the addresses of arrays of the
// structs in pool_batch.hpp, laid out by PoolStaging.java.
#pragma once

#include <algorithm>

#include "guarded.hpp"
#include "kvasir/block_pool.hpp"

// 0, or the PoolError in the upper and the entry in the lower 32 bits.
inline int64_t kvasir_pool_result(kvasir::PoolResult result) noexcept {
  return static_cast<int64_t>(static_cast<uint64_t>(result.error) << 32 | result.entry);
}

// An address, or a status of guarded.hpp.
inline int64_t kvasir_pool_create(int capacity_blocks, int tokens_per_block, int max_leases,
                                  int max_blocks_per_lease, int event_capacity) noexcept {
  return kvasir::guarded([&] {
    return new kvasir::BlockPool(
        {static_cast<uint32_t>(capacity_blocks), static_cast<uint32_t>(tokens_per_block),
         static_cast<uint32_t>(max_leases), static_cast<uint32_t>(max_blocks_per_lease),
         static_cast<uint32_t>(event_capacity)});
  });
}

inline void kvasir_pool_destroy(kvasir::BlockPool* pool) noexcept { delete pool; }

inline const kvasir::OccupancyPage* kvasir_pool_page(const kvasir::BlockPool* pool) noexcept {
  return &pool->page();
}

inline const kvasir::Directory* kvasir_pool_directory(const kvasir::BlockPool* pool) noexcept {
  return &pool->directory();
}

inline int64_t kvasir_pool_lease(kvasir::BlockPool* pool, kvasir::LeaseRequest* requests,
                                 int count) noexcept {
  return kvasir_pool_result(pool->lease(requests, static_cast<uint32_t>(count)));
}

inline int64_t kvasir_pool_extend(kvasir::BlockPool* pool, kvasir::ExtendRequest* requests,
                                  int count) noexcept {
  return kvasir_pool_result(pool->extend(requests, static_cast<uint32_t>(count)));
}

inline int64_t kvasir_pool_commit(kvasir::BlockPool* pool, const kvasir::CommitRequest* requests,
                                  int count) noexcept {
  return kvasir_pool_result(pool->commit(requests, static_cast<uint32_t>(count)));
}

inline int64_t kvasir_pool_release(kvasir::BlockPool* pool, const int* leases, int count) noexcept {
  return kvasir_pool_result(pool->release(leases, static_cast<uint32_t>(count)));
}

inline void kvasir_pool_clear(kvasir::BlockPool* pool) noexcept { pool->clear(); }

inline int kvasir_pool_drain_events(kvasir::BlockPool* pool, kvasir::BlockEvent* events,
                                    int count) noexcept {
  return static_cast<int>(pool->events().drain(events, static_cast<uint32_t>(count)));
}

// The table's length, or -1 for an unknown lease; copies it if it fits.
inline int kvasir_pool_block_table(const kvasir::BlockPool* pool, int lease, int* table,
                                   int room) noexcept {
  uint32_t length = 0;
  const uint32_t* blocks = pool->block_table(lease, &length);
  if (blocks == nullptr) {
    return -1;
  }
  if (static_cast<int>(length) <= room) {
    std::copy(blocks, blocks + length, table);
  }
  return static_cast<int>(length);
}
