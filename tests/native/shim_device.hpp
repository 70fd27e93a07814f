// The Device of device_pool_history.hpp and device_hash_batches.hpp on the host: the shim's
// launches and plain memory, filled with an unlikely pattern.
#pragma once

#include "cuda_shim.hpp"

// The kernels; the shim must be included before them.
#include "../../native/src/cuda/kernels.cu"
#include "device_hash_batches.hpp"
#include "pool_histories.hpp"

namespace kvasir {

class ShimDevice {
 public:
  static constexpr uint32_t kMostBlocks = 3;
  static constexpr uint32_t kMostWarps = 2;
  static constexpr uint32_t kWideWarps = 8;

  void seed(uint64_t seed) { shim::Scheduler::get().seed(seed); }
  bool filled() const { return true; }

  void* device_memory(uint64_t bytes) {
    void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    CHECK(memory != nullptr);
    std::memset(memory, 0xa5, bytes);
    return memory;
  }
  void* host_memory(uint64_t bytes) { return device_memory(bytes); }
  void free_device(void* memory) { std::free(memory); }
  void free_host(void* memory) { std::free(memory); }
  void download(void* to, const void* from, uint64_t bytes) { std::memcpy(to, from, bytes); }

  template <typename Kernel, typename... Arguments>
  void launch(Kernel kernel, uint32_t grid, uint32_t threads, Arguments... arguments) {
    shim::launch(kernel, grid, threads, arguments...);
  }

  // Concurrent with a thread block that probes, as on another stream.
  template <typename Kernel, typename... Arguments>
  void launch_beside(const ProbeArguments& probe, Kernel kernel, uint32_t grid, uint32_t threads,
                     Arguments... arguments) {
    const auto beside = [=] {
      kvasir_probe(probe.pools, probe.pool_count, probe.hashes, probe.offsets, probe.prompts,
                   probe.matched);
    };
    shim::launch_beside(beside, kernel, grid, threads, arguments...);
  }

  void synchronise() {}
  void begin_watching(const OccupancyPage&, const EventRingHead&, uint32_t) {}
  void end_watching() {}
};

}  // namespace kvasir
