// The Device of device_pool_history.hpp and device_hash_batches.hpp over the interpreter of PTX:
// memory is checked, and kernels that the tests name as functions run from the module of that name.
#pragma once

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <tuple>

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

// Reads an occupancy page as the host does, one word at a time and at its own pace, and checks what
// it takes for a whole page.
class PageReader {
 public:
  explicit PageReader(const OccupancyPage& page) : page_(page) {}

  // The launch is over, and all of its stores are visible: the page is what was published.
  void settle() {
    before_ = page_.sequence;
    std::copy(page_.words, page_.words + kOccupancyWords, words_);
    check();
    read_ = 0;
  }

  void go_on() {
    for (uint32_t steps = random_.below(2 * kOccupancyWords); steps > 0; steps--) {
      if (read_ == 0) {
        before_ = page_.sequence;
        read_ += before_ % 2 == 0 ? 1 : 0;
      } else if (read_ <= kOccupancyWords) {
        words_[read_ - 1] = page_.words[read_ - 1];
        read_++;
      } else {
        if (page_.sequence == before_) {
          check();
        }
        read_ = 0;
      }
    }
  }

 private:
  // Words: capacity, free, cached, active.
  void check() {
    CHECK(words_[1] + words_[2] + words_[3] == words_[0]);
    CHECK(before_ != known_ || std::equal(words_, words_ + kOccupancyWords, known_words_));
    known_ = before_;
    std::copy(words_, words_ + kOccupancyWords, known_words_);
  }

  const OccupancyPage& page_;
  TestRandom random_{7};
  uint32_t read_ = 0;
  uint64_t before_ = 0;
  uint64_t words_[kOccupancyWords] = {};
  uint64_t known_ = ~uint64_t{0};
  uint64_t known_words_[kOccupancyWords] = {};
};

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
  void* host_memory(uint64_t bytes) { return add(bytes, true); }
  void free_device(void* memory) {
    memory_.remove(memory);
    allocated_.erase(memory);
    std::free(memory);
  }
  void free_host(void* memory) { free_device(memory); }
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

  void synchronise() {}
  void begin_watching(const OccupancyPage& page) {
    reader_ = std::make_unique<PageReader>(page);
    machine_.watch(&page, sizeof page, [this] { reader_->go_on(); });
  }
  void end_watching() {
    machine_.watch(nullptr, 0, nullptr);
    reader_.reset();
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
  void run(const std::vector<ptx::Grid>& grids, uint32_t threads) {
    machine_.run(grids, threads);
    if (reader_ != nullptr) {
      reader_->settle();
    }
  }

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
  std::unique_ptr<PageReader> reader_;
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
