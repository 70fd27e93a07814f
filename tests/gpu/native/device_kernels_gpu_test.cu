// The kernels on a GPU: the histories and batches of the native tests. Probes run concurrently with
// the mutations on a second, high-priority stream, and the host reads the page.
//
//   device_kernels_gpu_test [--seeds N] [--steps N] [--unfilled] [--small]
//
// --unfilled leaves device memory as it was allocated, so that an initialisation checker sees what
// kernels read; only the kernels' results are compared then. --small omits the large pool.

#include <cstring>
#include <memory>

#include "../../../native/src/cuda/kernels.cu"
#include "../../native/device_hash_batches.hpp"
#include "../../native/pool_histories.hpp"
#include "cuda_device.hpp"

namespace kvasir {
namespace {

class CudaDevice {
 public:
  static constexpr uint32_t kMostBlocks = 48;
  static constexpr uint32_t kMostWarps = 32;
  static constexpr uint32_t kWideWarps = kMostWarps;

  explicit CudaDevice(bool filled) : filled_(filled) {
    int lowest = 0;
    int highest = 0;
    CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    CUDA_CHECK(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, lowest));
    CUDA_CHECK(cudaStreamCreateWithPriority(&probes_, cudaStreamNonBlocking, highest));
  }
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;
  ~CudaDevice() {
    CUDA_CHECK(cudaStreamDestroy(probes_));
    CUDA_CHECK(cudaStreamDestroy(stream_));
  }

  void seed(uint64_t) {}
  bool filled() const { return filled_; }
  uint64_t launches() const { return launches_; }

  void* device_memory(uint64_t bytes) {
    void* memory = nullptr;
    CUDA_CHECK(cudaMalloc(&memory, bytes));
    if (filled_) {
      CUDA_CHECK(cudaMemset(memory, 0xa5, bytes));
      CUDA_CHECK(cudaDeviceSynchronize());
    }
    return memory;
  }
  // Pinned; device and host use the same address.
  void* host_memory(uint64_t bytes) {
    void* memory = nullptr;
    CUDA_CHECK(cudaMallocHost(&memory, bytes));
    std::memset(memory, 0xa5, bytes);
    return memory;
  }
  void free_device(void* memory) { CUDA_CHECK(cudaFree(memory)); }
  void free_host(void* memory) { CUDA_CHECK(cudaFreeHost(memory)); }
  void download(void* to, const void* from, uint64_t bytes) {
    CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
  }

  template <typename Kernel, typename... Arguments>
  void launch(Kernel kernel, uint32_t grid, uint32_t threads, Arguments... arguments) {
    kernel<<<grid, threads, 0, stream_>>>(arguments...);
    CUDA_CHECK(cudaGetLastError());
    launches_++;
  }

  // Concurrent with probes that are submitted before and after it.
  template <typename Kernel, typename... Arguments>
  void launch_beside(const ProbeArguments& probe, Kernel kernel, uint32_t grid, uint32_t threads,
                     Arguments... arguments) {
    launch_probe(probe);
    launch(kernel, grid, threads, arguments...);
    launch_probe(probe);
  }

  void synchronise() {
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    CUDA_CHECK(cudaStreamSynchronize(probes_));
  }

  void begin_watching(const OccupancyPage& page, const EventRingHead&, uint32_t) {
    watch_.reset(new PageWatch(page));
  }
  void end_watching() { watch_.reset(); }

 private:
  void launch_probe(const ProbeArguments& probe) {
    kvasir_probe<<<1, 64, 0, probes_>>>(probe.pools, probe.pool_count, probe.hashes, probe.offsets,
                                        probe.prompts, probe.matched);
    CUDA_CHECK(cudaGetLastError());
    launches_++;
  }

  const bool filled_;
  cudaStream_t stream_;
  cudaStream_t probes_;
  uint64_t launches_ = 0;
  std::unique_ptr<PageWatch> watch_;
};

// A pool large enough that every kernel takes many thread blocks and many rounds.
Seen run_large_history(CudaDevice& device, uint64_t seed, int steps) {
  g_seed = seed;
  const PoolShape shape{9'000, 16, 64, 1'200, 1u << 15};
  History<CudaDevice> history(device, seed, shape, 32, false);
  for (int step = 0; step < steps; step++) {
    history.step();
  }
  return history.seen();
}

}  // namespace
}  // namespace kvasir

int main(int argc, char** argv) {
  using namespace kvasir;
  uint64_t seeds = 24;
  int steps = 150;
  bool filled = true;
  bool large = true;
  for (int i = 1; i < argc; i++) {
    if (std::strcmp(argv[i], "--unfilled") == 0) {
      filled = false;
    } else if (std::strcmp(argv[i], "--small") == 0) {
      large = false;
    } else if (std::strcmp(argv[i], "--seeds") == 0 && i + 1 < argc) {
      seeds = std::strtoull(argv[++i], nullptr, 10);
    } else if (std::strcmp(argv[i], "--steps") == 0 && i + 1 < argc) {
      steps = std::atoi(argv[++i]);
    } else {
      std::fprintf(stderr, "usage: %s [--seeds N] [--steps N] [--unfilled] [--small]\n", argv[0]);
      return 2;
    }
  }
  require_gpu();
  CudaDevice device(filled);
  run_hash_batches(device, seeds < 10 ? seeds : 10, 40);
  std::puts("hashes: equal to those of the host");
  Seen all = run_histories(device, seeds, steps);
  if (large) {
    all.add(run_large_history(device, 1, steps));
  }
  all.print();
  std::printf("launches %llu, page read %llu times, changed %llu times\n",
              static_cast<unsigned long long>(device.launches()),
              static_cast<unsigned long long>(PageWatch::reads().load()),
              static_cast<unsigned long long>(PageWatch::changes().load()));
  // Short runs may not cover everything; the full length must.
  if (seeds >= 24 && steps >= 150) {
    CHECK(all.refused > 0 && all.matched > 0 && all.evicted > 0 && all.collisions > 0);
    CHECK(all.cleared > 0 && all.lost_events > 0 && PageWatch::changes() > 0);
    CHECK(!filled || (all.shared > 0 && all.watched > 0));
  }
  std::puts("device_kernels_gpu_test: ok");
  return 0;
}
