// Launches of the KvStamp kernel, over a Device as in device_pool_history.hpp. The shim, or CUDA,
// must be included before this header.
#pragma once

#include "kv_stamp.cu"

namespace kvasir {

// Sequences that share their first block continue; with so many layers lanes write in two rounds.
template <typename Device>
void run_stamps(Device& device, uint64_t seeds) {
  constexpr uint32_t kLayers = 40;
  constexpr uint32_t kSequences = 3;
  const PoolShape shape{10, 2, kSequences, 4, 0};
  auto* pool = static_cast<DevicePool*>(device.host_memory(device_pool_bytes(shape)));
  device_pool_view(reinterpret_cast<uintptr_t>(pool), shape, pool);
  void* words = device.host_memory(uint64_t{10} * 2 * kLayers * sizeof(uint64_t));
  void* tokens = device.host_memory(5 * sizeof(int32_t));
  void* memory = device.host_memory(kSequences * sizeof(KvStampEntry));
  auto* entries = static_cast<KvStampEntry*>(memory);
  const auto step = [&](uint32_t context_tokens, uint32_t new_tokens, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
      entries[i] = {1, static_cast<int32_t>(i), context_tokens, new_tokens, 0, 1, -1};
    }
    device.launch(kvasir_kv_stamp, 2, 64, static_cast<const DevicePool*>(pool),
                  static_cast<uint64_t*>(words), kLayers, 1000u,
                  static_cast<const int32_t*>(tokens), entries, count);
  };
  for (uint32_t i = 0; i < kSequences; i++) {
    uint32_t* table = block_table(*pool, static_cast<int32_t>(i));
    table[0] = 0;
    for (uint32_t block = 1; block < 4; block++) {
      table[block] = 3 * i + block;
    }
  }
  for (uint64_t seed = 1; seed <= seeds; seed++) {
    g_seed = seed;
    device.seed(seed);
    step(0, 2, 1);
    step(2, 5, kSequences);
  }
  for (void* used : {static_cast<void*>(pool), words, tokens, memory}) {
    device.free_host(used);
  }
}

}  // namespace kvasir
