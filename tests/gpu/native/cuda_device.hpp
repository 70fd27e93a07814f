// One GPU for native tests and benchmarks, through the CUDA runtime: every call is checked.
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <thread>

#include "../../native/check.hpp"
#include "kvasir/occupancy_page.hpp"

#define CUDA_CHECK(call)                                                                     \
  do {                                                                                       \
    const cudaError_t cuda_error = (call);                                                   \
    if (cuda_error != cudaSuccess) {                                                         \
      std::fprintf(stderr, "%s:%d: %s: %s, seed %llu\n", __FILE__, __LINE__, #call,          \
                   cudaGetErrorString(cuda_error), static_cast<unsigned long long>(g_seed)); \
      std::exit(1);                                                                          \
    }                                                                                        \
  } while (false)

namespace kvasir {

// Prints the GPU, or exits with the reason if there is none.
inline cudaDeviceProp require_gpu() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) {
    std::fprintf(stderr, "no GPU: %s\n",
                 error != cudaSuccess ? cudaGetErrorString(error) : "the driver reports no device");
    std::exit(2);
  }
  cudaDeviceProp properties;
  int driver = 0;
  CUDA_CHECK(cudaSetDevice(0));
  CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
  CUDA_CHECK(cudaDriverGetVersion(&driver));
  std::printf("%s, sm_%d%d, %d multiprocessors, CUDA driver %d.%d\n", properties.name,
              properties.major, properties.minor, properties.multiProcessorCount, driver / 1000,
              driver % 1000 / 10);
  return properties;
}

// Reads a page on a host thread during this object's lifetime while the device updates it. Checks
// that all counts belong to one moment and that none decreases.
class PageWatch {
 public:
  explicit PageWatch(const OccupancyPage& page) : thread_([this, &page] { watch(page); }) {}
  PageWatch(const PageWatch&) = delete;
  PageWatch& operator=(const PageWatch&) = delete;
  ~PageWatch() {
    stop_.store(true);
    thread_.join();
  }

  // Number of page reads with a new state, over all watches so far.
  static std::atomic<uint64_t>& reads() {
    static std::atomic<uint64_t> reads{0};
    return reads;
  }
  static std::atomic<uint64_t>& changes() {
    static std::atomic<uint64_t> changes{0};
    return changes;
  }

 private:
  void watch(const OccupancyPage& page) {
    Occupancy before = read_occupancy(page);
    while (!stop_.load()) {
      const Occupancy now = read_occupancy(page);
      CHECK(now.capacity_blocks == before.capacity_blocks);
      CHECK(now.free_blocks + now.cached_blocks + now.active_blocks == now.capacity_blocks);
      CHECK(now.tick >= before.tick && now.oldest_evictable_tick <= now.tick);
      CHECK(now.evicted_blocks >= before.evicted_blocks);
      reads()++;
      if (now.tick != before.tick || now.free_blocks != before.free_blocks) {
        changes()++;
      }
      before = now;
    }
  }

  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace kvasir
