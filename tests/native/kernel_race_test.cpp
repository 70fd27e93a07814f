// The kernels have no data race by CUDA's memory model: race_detector.hpp says what is checked.
#include "race_detector.hpp"
#include "shim_device.hpp"

// After the shim.
#include "kv_stamp_steps.hpp"

namespace kvasir {
namespace {

// The shim's memory, watched.
class WatchedDevice : public ShimDevice {
 public:
  void* device_memory(uint64_t bytes) {
    void* memory = ShimDevice::device_memory(bytes);
    race::add_memory(memory, bytes);
    return memory;
  }
  void* host_memory(uint64_t bytes) { return device_memory(bytes); }
  void free_device(void* memory) {
    race::remove_memory(memory);
    ShimDevice::free_device(memory);
  }
  void free_host(void* memory) { free_device(memory); }
};

// Kernels that the detector must, or must not, accept.
__global__ void stores_weakly_what_others_load(uint32_t* words) {
  if (thread_in_grid() == 0) {
    words[0] = 1;
  } else {
    words[1 + thread_in_grid()] = load_relaxed(words);
  }
}

__global__ void stores_what_others_load(uint32_t* words) {
  if (thread_in_grid() == 0) {
    store_relaxed(words, 1u);
  } else {
    words[1 + thread_in_grid()] = load_relaxed(words);
  }
}

__global__ void stores_one_value_twice(uint32_t* words) { words[0] = 1; }

__global__ void sums_after_a_shuffle(uint32_t* words) {
  const uint64_t own = thread_in_grid();
  words[own] = 1;
  __shfl_sync(kAllLanes, 0, 0);
  words[64 + own] = words[own ^ 1];
}

__global__ void sums_after_a_warp_barrier(uint32_t* words) {
  const uint64_t own = thread_in_grid();
  words[own] = 1;
  __syncwarp();
  words[64 + own] = words[own ^ 1];
}

// As block_arrives_last(), with the fences where `fences` says.
enum class Fences { kOfAllThreads, kOfTheCountingThread };

__global__ void last_block_reads(uint32_t* words, Fences fences) {
  KVASIR_SHARED(uint32_t, last);
  words[1 + thread_in_grid()] = 1;
  if (fences == Fences::kOfAllThreads) {
    __threadfence();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    if (fences == Fences::kOfTheCountingThread) {
      __threadfence();
    }
    last = atomicAdd(words, 1u) + 1 == gridDim.x;
    if (fences == Fences::kOfTheCountingThread) {
      __threadfence();
    }
  }
  __syncthreads();
  if (fences == Fences::kOfAllThreads) {
    __threadfence();
  }
  if (last != 0) {
    words[512 + threadIdx.x] = words[1 + threadIdx.x] + words[1 + blockDim.x + threadIdx.x];
  }
}

template <typename Kernel, typename... Arguments>
int races_of(Kernel kernel, Arguments... arguments) {
  WatchedDevice device;
  int races = 0;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    device.seed(seed);
    auto* words = static_cast<uint32_t*>(device.device_memory(4096));
    std::memset(words, 0, 4096);
    device.launch(kernel, 2, 32, words, arguments...);
    races += race::take_races();
    device.free_device(words);
  }
  return races;
}

void the_detector_finds_races_and_only_races() {
  CHECK(races_of(stores_weakly_what_others_load) > 0);
  CHECK(races_of(stores_what_others_load) == 0);
  CHECK(races_of(stores_one_value_twice) > 0);
  CHECK(races_of(sums_after_a_shuffle) > 0);
  CHECK(races_of(sums_after_a_warp_barrier) == 0);
  CHECK(races_of(last_block_reads, Fences::kOfAllThreads) > 0);
  CHECK(races_of(last_block_reads, Fences::kOfTheCountingThread) == 0);
}

void histories_have_no_race() {
  WatchedDevice device;
  const Seen all = run_histories(device, 10, 40);
  all.print();
  CHECK(all.refused > 0 && all.evicted > 0 && all.collisions > 0 && all.shared > 0);
  CHECK(all.cleared > 0 && all.watched > 0);
  CHECK(race::take_races() == 0);
}

void hashes_have_no_race() {
  WatchedDevice device;
  run_hash_batches(device, 4, 4);
  CHECK(race::take_races() == 0);
}

void stamps_have_no_race() {
  WatchedDevice device;
  run_stamps(device, 10);
  CHECK(race::take_races() == 0);
}

}  // namespace
}  // namespace kvasir

int main() {
  kvasir::the_detector_finds_races_and_only_races();
  kvasir::histories_have_no_race();
  kvasir::hashes_have_no_race();
  kvasir::stamps_have_no_race();
  std::puts("kernel_race_test: ok");
  return 0;
}
