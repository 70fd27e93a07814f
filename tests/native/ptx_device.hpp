// The Device of device_pool_history.hpp and device_hash_batches.hpp over the interpreter of PTX:
// memory is checked, and kernels that the tests name as functions run from the module of that name.
#pragma once

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <tuple>

#include "host_readers.hpp"
#include "kernel_list.hpp"
#include "ptx_machine.hpp"
#include "shim_device.hpp"

// After the shim.
#include "kv_stamp_steps.hpp"

namespace kvasir {

template <typename Kernel>
const char* kernel_name(Kernel kernel) {
  const auto address = reinterpret_cast<void (*)()>(kernel);
#define NAME(name)                                       \
  if (address == reinterpret_cast<void (*)()>(::name)) { \
    return #name;                                        \
  }
  KVASIR_KERNELS(NAME)
#undef NAME
  throw ptx::Fault("a kernel without a name");
}

class PtxDevice {
 public:
  static constexpr uint32_t kMostBlocks = 3;
  static constexpr uint32_t kMostWarps = 2;
  static constexpr uint32_t kWideWarps = 32;

  explicit PtxDevice(ptx::Module& module, bool finds_races = true)
      : module_(module), machine_(memory_, finds_races) {
    for (const auto& constant : module.constants()) {
      memory_.add(constant.data(), constant.size() * sizeof(uint64_t), true);
    }
  }
  PtxDevice(const PtxDevice&) = delete;
  PtxDevice& operator=(const PtxDevice&) = delete;
  ~PtxDevice() {
    for (void* memory : allocated_) {  // left by a case that failed
      std::free(memory);
    }
  }

  void seed(uint64_t seed) { machine_.seed(seed); }
  bool filled() const { return true; }

  void* device_memory(uint64_t bytes) { return add(bytes, false); }
  void* host_memory(uint64_t bytes) {
    void* memory = add(bytes, true);
    machine_.host.add(memory, bytes);
    return memory;
  }
  void free_device(void* memory) {
    memory_.remove(memory);
    allocated_.erase(memory);
    std::free(memory);
  }
  void free_host(void* memory) {
    machine_.host.remove(memory);
    free_device(memory);
  }
  void download(void* to, const void* from, uint64_t bytes) { std::memcpy(to, from, bytes); }

  void upload(void* to, const void* from, uint64_t bytes) {
    std::memcpy(to, from, bytes);
    memory_.written_by_host(reinterpret_cast<uintptr_t>(to), bytes);
  }
  void count_time(ptx::LaunchTime* time) { machine_.count_time(time); }

  template <typename... Types, typename... Arguments>
  void launch(void (*kernel)(Types...), uint32_t grid, uint32_t threads, Arguments... arguments) {
    run({prepare(kernel, grid, arguments...)}, threads);
  }

  template <typename... Types, typename... Arguments>
  void launch_beside(const ProbeArguments& probe, void (*kernel)(Types...), uint32_t grid,
                     uint32_t threads, Arguments... arguments) {
    run({prepare(kernel, grid, arguments...),
         prepare(kvasir_probe, 1, probe.pools, probe.pool_count, probe.hashes, probe.offsets,
                 probe.prompts, probe.matched)},
        threads);
  }

  void synchronise() {
    machine_.host.show_all();
    if (readers_ != nullptr) {
      readers_->settle();
    }
  }
  void begin_watching(const OccupancyPage& page, const EventRingHead& ring, uint32_t capacity) {
    end_watching();
    synchronise();
    ptx::HostView& host = machine_.host;
    readers_ =
        std::make_unique<HostReaders>(*static_cast<const OccupancyPage*>(host.of(&page)),
                                      static_cast<const EventRingHead*>(host.of(&ring)), capacity);
    host.seen = [this, &host] { readers_->go_on(host.sees_all_of_the_stream()); };
  }
  void end_watching() {
    machine_.host.seen = nullptr;
    readers_.reset();
  }

  // Prints the races since the last call and returns their number.
  int take_races() {
    const race::Races found = races();
    for (const auto& [before, now] : found) {
      std::fprintf(stderr, "race of PTX lines %llu and %llu\n",
                   static_cast<unsigned long long>(before), static_cast<unsigned long long>(now));
    }
    return static_cast<int>(found.size());
  }
  race::Races races() { return machine_.take_races(); }

 private:
  void run(const std::vector<ptx::Grid>& grids, uint32_t threads) { machine_.run(grids, threads); }

  void* add(uint64_t bytes, bool written) {
    void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    CHECK(memory != nullptr);
    std::memset(memory, 0xa5, bytes);
    memory_.add(memory, bytes, written);
    allocated_.insert(memory);
    return memory;
  }

  template <typename... Types, typename... Arguments>
  ptx::Grid prepare(void (*kernel)(Types...), uint32_t blocks, Arguments... arguments) {
    std::tuple<Types...> values{arguments...};
    return std::apply(
        [&](auto&... each) {
          void* const addresses[] = {const_cast<void*>(static_cast<const void*>(&each))...};
          return ptx::make_grid(module_.kernel(kernel_name(kernel)), blocks, addresses);
        },
        values);
  }

  ptx::Module& module_;
  ptx::Memory memory_;
  ptx::Machine machine_;
  std::unique_ptr<HostReaders> readers_;
  std::set<void*> allocated_;
};

// What ends a case early: a fault, or a check that failed; empty if nothing.
template <typename Body>
std::string failure_of(Body body) {
  const auto before = g_on_failed_check;
  g_on_failed_check = [](const char* message) { throw ptx::Fault(message); };
  std::string failure;
  try {
    body();
  } catch (const ptx::Fault& fault) {
    failure = fault.what();
  }
  g_on_failed_check = before;
  return failure;
}

inline bool long_form() {
  const char* value = std::getenv("KVASIR_LONG");
  return value != nullptr && std::string(value) == "1";
}

// Runs a test on the PTX that the build made, or on that of KVASIR_TEST_PTX.
inline int run_ptx_test(const char* name, int (*run)(const std::string& path)) {
  constexpr int kSkipped = 77;  // as SKIP_RETURN_CODE in CMakeLists.txt
  const char* other = std::getenv("KVASIR_TEST_PTX");
  const std::string path = other != nullptr ? other : KVASIR_PTX;
  if (path.empty()) {
    std::printf("%s: skipped: the build found no nvcc, and KVASIR_TEST_PTX is not set\n", name);
    return kSkipped;
  }
  int result = 0;
  const std::string failure = failure_of([&] { result = run(path); });
  if (!failure.empty()) {
    std::fprintf(stderr, "%s, seed %llu\n", failure.c_str(),
                 static_cast<unsigned long long>(g_seed));
    return 1;
  }
  std::printf("%s: %s\n", name, result == 0 ? "ok" : "failed");
  return result;
}

}  // namespace kvasir
