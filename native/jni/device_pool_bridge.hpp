// Sizes and offsets that Java needs to allocate a pool in device memory; device_pool_core.hpp
// describes the layout. No CUDA here.
#pragma once

#include "kvasir/device_pool_core.hpp"

namespace kvasir {

inline PoolShape device_pool_shape(int capacity_blocks, int tokens_per_block, int max_leases,
                                   int max_blocks_per_lease, int event_capacity) noexcept {
  return {static_cast<uint32_t>(capacity_blocks), static_cast<uint32_t>(tokens_per_block),
          static_cast<uint32_t>(max_leases), static_cast<uint32_t>(max_blocks_per_lease),
          static_cast<uint32_t>(event_capacity)};
}

}  // namespace kvasir

// Bytes of device memory, or -1 if the shape has too many blocks.
inline int64_t kvasir_device_pool_bytes(int capacity_blocks, int tokens_per_block, int max_leases,
                                        int max_blocks_per_lease, int event_capacity) noexcept {
  const kvasir::PoolShape shape = kvasir::device_pool_shape(
      capacity_blocks, tokens_per_block, max_leases, max_blocks_per_lease, event_capacity);
  return kvasir::device_pool_supports(shape)
             ? static_cast<int64_t>(kvasir::device_pool_bytes(shape))
             : -1;
}

// Bytes of an event ring.
inline int64_t kvasir_event_ring_bytes(int event_capacity) noexcept {
  return static_cast<int64_t>(
      kvasir::event_ring_bytes(kvasir::device_pool_shape(1, 1, 1, 1, event_capacity)));
}

// Offset of the block tables from the start of the pool's memory.
inline int64_t kvasir_device_pool_tables(int capacity_blocks, int tokens_per_block, int max_leases,
                                         int max_blocks_per_lease, int event_capacity) noexcept {
  kvasir::DevicePool view{};
  kvasir::device_pool_view(0,
                           kvasir::device_pool_shape(capacity_blocks, tokens_per_block, max_leases,
                                                     max_blocks_per_lease, event_capacity),
                           &view);
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(view.tables));
}
