// The state behind the calls of the fake CUDA driver: memory, lazy streams, events and faults.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "check.hpp"
#include "parameter_words.hpp"
#include "ptx_launches.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

// As declared in cuda.h, which is available only with the toolkit.
using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;

namespace fake_cuda {

enum Result : CUresult {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kInvalidDevice = 101,
  kInvalidContext = 201,
  kNoBinary = 209,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchFailed = 719,
};

constexpr int kDriverVersion = 13000;
constexpr unsigned kWithoutTiming = 2;  // CU_EVENT_DISABLE_TIMING
constexpr uint64_t kDeviceAlignment = 256;
constexpr uint64_t kPage = 4096;

// A piece of work; fails with a message.
struct Work {
  std::function<const char*()> run;
  std::vector<uint64_t> words;  // some are addresses of memory that it uses
};

struct Stream {
  std::deque<Work> waiting;
  uint64_t submitted = 0;
  uint64_t done = 0;
};

struct Event {
  bool timed = true;
  std::shared_ptr<Stream> stream;  // null before the first record
  uint64_t position = 0;
  bool passed = false;
  std::chrono::steady_clock::time_point at;
};

using Handle = std::shared_ptr<Stream>;
using Pieces = std::map<uint64_t, uint64_t>;  // address to bytes

struct Driver {
  std::mutex mutex;
  uint64_t total_bytes = uint64_t{64} << 20;
  uint64_t used_bytes = 0;
  Pieces device;
  Pieces pinned;
  int contexts = 0;
  std::vector<Handle> streams;
  int events = 0;
  int modules = 0;
  CUresult sticky = kSuccess;
  std::string faulty_call;
  int calls_to_fault = 0;
  CUresult fault = kSuccess;
  uint64_t seed = 1;
  int launches_to_hang = 0;
  bool hangs = false;
  int version = kDriverVersion;
  std::map<std::string, uint64_t> counts;
  TestRandom random{1};

  Driver() {
    if (const char* text = std::getenv("KVASIR_FAKE_CUDA_SEED")) {
      seed = std::strtoull(text, nullptr, 10);
    }
    random = TestRandom(seed);
    if (const char* text = std::getenv("KVASIR_FAKE_CUDA_HANG")) {
      launches_to_hang = std::atoi(text);
    }
    if (const char* text = std::getenv("KVASIR_FAKE_CUDA_VERSION")) {
      version = std::atoi(text);
    }
    if (const char* bytes = std::getenv("KVASIR_FAKE_CUDA_BYTES")) {
      total_bytes = std::strtoull(bytes, nullptr, 10);
    }
    if (const char* spec = std::getenv("KVASIR_FAKE_CUDA_FAULT")) {
      const std::string text = spec;
      const size_t first = text.find(':');
      const size_t second = text.find(':', first + 1);
      faulty_call = text.substr(0, first);
      calls_to_fault = std::atoi(text.substr(first + 1, second - first - 1).c_str());
      fault = std::atoi(text.substr(second + 1).c_str());
    }
  }

  // KVASIR_FAKE_CUDA_COUNTS=1 prints the calls, and the launches of each kernel, at the end.
  ~Driver() {
    if (std::getenv("KVASIR_FAKE_CUDA_COUNTS") != nullptr) {
      for (const auto& [what, count] : counts) {
        std::fprintf(stderr, "fake CUDA driver: %s %llu\n", what.c_str(),
                     static_cast<unsigned long long>(count));
      }
    }
  }

  // Called first by every function; returns an injected or sticky error, if any.
  CUresult enter(const char* call) {
    counts[call]++;
    if (sticky != kSuccess) {
      return sticky;
    }
    if (faulty_call == call && --calls_to_fault == 0) {
      if (fault != kOutOfMemory) {
        sticky = fault;
      }
      return fault;
    }
    return kSuccess;
  }

  bool contains(const Pieces& pieces, uint64_t address, uint64_t bytes) {
    auto next = pieces.upper_bound(address);
    if (next == pieces.begin()) {
      return false;
    }
    --next;
    return address + bytes <= next->first + next->second;
  }

  bool reachable(uint64_t address, uint64_t bytes) {
    return contains(device, address, bytes) || contains(pinned, address, bytes);
  }

  bool empty() {
    return device.empty() && pinned.empty() && streams.empty() && events == 0 && modules == 0;
  }

  [[noreturn]] void refuse(const char* what) {
    std::fprintf(stderr, "fake CUDA driver: %s, seed %llu\n", what,
                 static_cast<unsigned long long>(seed));
    std::fflush(stderr);
    std::_Exit(70);
  }

  void submit(const Handle& stream, Work work) {
    stream->waiting.push_back(std::move(work));
    stream->submitted++;
  }

  void run_until(Stream& stream, uint64_t position) {
    while (stream.done < position && sticky == kSuccess) {
      const Work work = std::move(stream.waiting.front());
      stream.waiting.pop_front();
      stream.done++;
      if (const char* failure = work.run()) {
        std::fprintf(stderr, "fake CUDA driver: %s\n", failure);
        sticky = kLaunchFailed;
      }
    }
  }

  void run_some(Stream& stream) {
    const auto waiting = static_cast<uint32_t>(stream.waiting.size());
    run_until(stream, stream.done + random.below(waiting + 1));
  }

  void run_by_chance() {
    if (!hangs && !streams.empty() && random.below(3) == 0) {
      run_some(*streams[random.below(static_cast<uint32_t>(streams.size()))]);
    }
  }

  bool pending() {
    for (const Handle& stream : streams) {
      if (!stream->waiting.empty()) {
        return true;
      }
    }
    return false;
  }

  // The piece of memory around an address.
  const std::pair<const uint64_t, uint64_t>* around(uint64_t address) {
    for (Pieces* pieces : {&device, &pinned}) {
      if (contains(*pieces, address, 1)) {
        return &*--pieces->upper_bound(address);
      }
    }
    return nullptr;
  }

  // Fails if pending work may use the memory that begins at `address`.
  void require_unused(uint64_t address, const char* what) {
    std::set<uint64_t> reached;
    std::vector<uint64_t> words;
    for (const Handle& stream : streams) {
      for (const Work& work : stream->waiting) {
        words.insert(words.end(), work.words.begin(), work.words.end());
      }
    }
    while (!words.empty()) {
      const auto* piece = around(words.back());
      words.pop_back();
      if (piece != nullptr && reached.insert(piece->first).second) {
        append_words(words, reinterpret_cast<const void*>(piece->first), piece->second);
      }
    }
    if (reached.count(address) != 0) {
      refuse(what);
    }
  }
};

inline Driver& driver() {
  static Driver instance;
  return instance;
}

inline char primary_context;
inline char module_handle;
inline thread_local void* current_context = nullptr;

inline void* pointer(uint64_t address) { return reinterpret_cast<void*>(address); }
inline uint64_t address_of(const void* memory) { return reinterpret_cast<uint64_t>(memory); }

// Adds memory that kernels may access, if the PTX interpreter runs them.
inline void know_memory(uint64_t address, uint64_t bytes, bool written) {
  if (ptx_launches() != nullptr) {
    ptx_launches()->memory.close();
    ptx_launches()->memory.add(pointer(address), bytes, written);
  }
}
inline void forget_memory(uint64_t address) {
  if (ptx_launches() != nullptr) {
    ptx_launches()->memory.remove(pointer(address));
  }
}
inline void written_memory(uint64_t address, uint64_t bytes) {
  if (ptx_launches() != nullptr) {
    ptx_launches()->memory.written_by_host(address, bytes);
  }
}

inline uint64_t take(Pieces& pieces, uint64_t bytes, uint64_t alignment, bool written) {
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) {
    return 0;
  }
  std::memset(memory, 0xa5, bytes);
  pieces[address_of(memory)] = bytes;
  know_memory(address_of(memory), bytes, written);
  return address_of(memory);
}

// Runs a call with the driver locked and a current context.
template <typename Body>
CUresult in_context(const char* call, Body body) {
  const std::lock_guard<std::mutex> lock(driver().mutex);
  const CUresult result = driver().enter(call);
  if (result != kSuccess) {
    return result;
  }
  if (current_context != &primary_context) {
    return current_context == nullptr ? kInvalidContext : kInvalidHandle;
  }
  driver().run_by_chance();
  return driver().sticky != kSuccess ? driver().sticky : body(driver());
}

inline const Handle& handle(void* stream) { return *static_cast<Handle*>(stream); }
inline const Event& event_of(void* event) { return **static_cast<std::shared_ptr<Event>*>(event); }

inline CUresult with_device(CUdevice device, const char* call, CUresult (*body)(Driver&)) {
  const std::lock_guard<std::mutex> lock(driver().mutex);
  if (device != 0) {
    return kInvalidDevice;
  }
  const CUresult result = driver().enter(call);
  return result != kSuccess ? result : body(driver());
}

}  // namespace fake_cuda
