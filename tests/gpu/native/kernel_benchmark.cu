// Measures the kernels on a GPU against the limits of the GPU and against the CPU pool.
//
//   kernel_benchmark [MARKDOWN_FILE]
//
// One line per figure: name, value, unit. Times are medians. "Cold" means that the L2 cache was
// flushed before.

#include "../../../native/src/cuda/kernels.cu"
#include "pool_cases.cuh"
#include "prompt_cases.cuh"

namespace kvasir {
namespace {

class Benchmark {
 public:
  explicit Benchmark(const cudaDeviceProp& device)
      : device_(device), prompts_(device_, report_), pools_(device_, report_) {}

  const Report& report() const { return report_; }

  void run() {
    device_.measure_limits(kPools * directory_buckets(kCapacity), report_);
    prompts_.measure_hashes();
    std::vector<std::unique_ptr<BenchmarkPool>> pools;
    for (uint32_t pool = 0; pool < kPools; pool++) {
      pools.emplace_back(
          new BenchmarkPool(kShape, device_.processors(), 64, Stream::Priority::kLowest));
      fill(*pools.back(), pool, true);
    }
    std::vector<const DevicePool*> views;
    for (const auto& pool : pools) {
      views.push_back(pool->view());
    }
    const DeviceArray<const DevicePool*> directories(views);
    prompts_.measure_probes(directories.data(), "64x8x250", 64, 250, 32);
    prompts_.measure_probes(directories.data(), "4096x8x1000", 4096, 1000, 1);
    prompts_.measure_probe_latency(directories.data());
    CpuBenchmarkPool cpu(kShape);
    // Different prompts from before, so that the pools are full.
    fill(*pools[0], 100, true);
    fill(cpu, 0, false);
    fill(cpu, 100, false);
    using Launches = BenchmarkPool::Launches;
    for (const uint32_t batch : {1u, 8u, 64u}) {
      pools_.measure_batches(*pools[0], batch, true, "device");
      pools[0]->set_launches(Launches::kOne);
      pools_.measure_batches(*pools[0], batch, true, "one_launch");
      pools[0]->set_launches(Launches::kOfPhases);
      pools_.measure_batches(cpu, batch, false, "cpu");
    }
    pools_.measure_iterations(*pools[0], true, "device");
    pools[0]->set_launches(Launches::kOne);
    pools_.measure_iterations(*pools[0], true, "one_launch");
    pools_.measure_iterations(cpu, false, "cpu");
    pools.clear();
    for (const uint32_t capacity : {1u << 12, 1u << 14, 1u << 16, 1u << 18, 1u << 20}) {
      pools_.measure_capacity(capacity);
    }
    pools_.measure_page("low_priority", Stream::Priority::kLowest);
    pools_.measure_page("high_priority", Stream::Priority::kHighest);
  }

 private:
  Report report_;
  BenchmarkDevice device_;
  PromptCases prompts_;
  PoolCases pools_;
};

}  // namespace
}  // namespace kvasir

int main(int argc, char** argv) {
  using namespace kvasir;
  if (argc > 2) {
    std::fprintf(stderr, "usage: %s [MARKDOWN_FILE]\n", argv[0]);
    return 2;
  }
  const cudaDeviceProp device = require_gpu();
  Benchmark benchmark(device);
  benchmark.run();
  if (argc == 2) {
    benchmark.report().write(argv[1], std::string("Device: ") + device.name);
  }
  return 0;
}
