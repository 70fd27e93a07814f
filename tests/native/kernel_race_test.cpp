// The kernels have no data race by CUDA's memory model: race_detector.hpp says what is checked.
#include "race_detector.hpp"
#include "shim_device.hpp"

// After the shim.
#include "kv_stamp.cu"

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

// Sequences that share their first block continue; with so many layers lanes write in two rounds.
void stamps_have_no_race() {
  constexpr uint32_t kLayers = 40;
  constexpr uint32_t kSequences = 3;
  const PoolShape shape{10, 2, kSequences, 4, 0};
  WatchedDevice device;
  auto* pool = static_cast<DevicePool*>(device.device_memory(device_pool_bytes(shape)));
  device_pool_view(reinterpret_cast<uintptr_t>(pool), shape, pool);
  void* words = device.device_memory(uint64_t{10} * 2 * kLayers * sizeof(uint64_t));
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
  for (uint64_t seed = 1; seed <= 10; seed++) {
    device.seed(seed);
    step(0, 2, 1);
    step(2, 5, kSequences);
  }
  CHECK(race::take_races() == 0);
  for (void* used : {static_cast<void*>(pool), words, tokens, memory}) {
    device.free_device(used);
  }
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
