// A CUDA driver without a device: the driver API calls that Kvasir makes through JCuda, in host
// memory, with kernels on the CPU. Built as libcuda.so.1 in its own folder, for tests that put it
// on the library path of a process: FakeDriverTest.java.
//
// Streams are lazy: copies, fills, launches and event records are carried out when something waits
// for them, or before that by chance, during any call. The process ends with a message on the error
// stream if a stream is destroyed or the module unloaded with work pending, or if memory is freed
// that pending work may use: every word in memory that the work may use counts as an address.
// Allocated memory contains garbage; copies and fills must stay within it. Resources left when the
// last context is destroyed are reported on the error stream.
//
// KVASIR_FAKE_CUDA_SEED seeds what happens by chance. KVASIR_FAKE_CUDA_BYTES sets the size of the
// device's memory. KVASIR_FAKE_CUDA_FAULT=CALL:N:CODE makes the N-th call of a function fail.
// Except for out of memory (2), the error is sticky, as after a lost context. After
// KVASIR_FAKE_CUDA_HANG=N launches no work is carried out any more.

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <set>
#include <string>

#include "shim_kernels.hpp"

// As declared in cuda.h, which is available only with the toolkit.
using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;

namespace {

enum Result : CUresult {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kInvalidDevice = 101,
  kInvalidContext = 201,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchFailed = 719,
};

constexpr int kDriverVersion = 13000;
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
  Pieces registered;
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
  TestRandom random{1};

  Driver() {
    if (const char* text = std::getenv("KVASIR_FAKE_CUDA_SEED")) {
      seed = std::strtoull(text, nullptr, 10);
    }
    random = TestRandom(seed);
    if (const char* text = std::getenv("KVASIR_FAKE_CUDA_HANG")) {
      launches_to_hang = std::atoi(text);
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

  // Called first by every function; returns an injected or sticky error, if any.
  CUresult enter(const char* call) {
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
    return contains(device, address, bytes) || contains(pinned, address, bytes) ||
           contains(registered, address, bytes);
  }

  bool empty() {
    return device.empty() && pinned.empty() && registered.empty() && streams.empty() &&
           events == 0 && modules == 0;
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
    for (Pieces* pieces : {&device, &pinned, &registered}) {
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

Driver& driver() {
  static Driver instance;
  return instance;
}

char primary_context;
char module_handle;
thread_local void* current_context = nullptr;

void* pointer(uint64_t address) { return reinterpret_cast<void*>(address); }
uint64_t address_of(const void* memory) { return reinterpret_cast<uint64_t>(memory); }

uint64_t take(Pieces& pieces, uint64_t bytes, uint64_t alignment) {
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) {
    return 0;
  }
  std::memset(memory, 0xa5, bytes);
  pieces[address_of(memory)] = bytes;
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
  if (current_context == nullptr) {
    return kInvalidContext;
  }
  driver().run_by_chance();
  return driver().sticky != kSuccess ? driver().sticky : body(driver());
}

const Handle& handle(void* stream) { return *static_cast<Handle*>(stream); }
const Event& event_of(void* event) { return **static_cast<std::shared_ptr<Event>*>(event); }

CUresult with_device(CUdevice device, const char* call, CUresult (*body)(Driver&)) {
  const std::lock_guard<std::mutex> lock(driver().mutex);
  if (device != 0) {
    return kInvalidDevice;
  }
  const CUresult result = driver().enter(call);
  return result != kSuccess ? result : body(driver());
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT CUresult cuInit(unsigned) { return kSuccess; }

EXPORT CUresult cuDriverGetVersion(int* version) {
  *version = kDriverVersion;
  return kSuccess;
}

EXPORT CUresult cuDeviceGetCount(int* count) {
  *count = 1;
  return kSuccess;
}

EXPORT CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return ordinal == 0 ? kSuccess : kInvalidDevice;
}

EXPORT CUresult cuDeviceGetName(char* name, int length, CUdevice) {
  std::snprintf(name, static_cast<size_t>(length), "Fake GPU");
  return kSuccess;
}

EXPORT CUresult cuDeviceGetUuid(void* uuid, CUdevice) {
  for (int i = 0; i < 16; i++) {
    static_cast<unsigned char*>(uuid)[i] = static_cast<unsigned char>(i);
  }
  return kSuccess;
}

EXPORT CUresult cuDeviceGetPCIBusId(char* id, int length, CUdevice) {
  std::snprintf(id, static_cast<size_t>(length), "0000:1F:00.0");
  return kSuccess;
}

EXPORT CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice) {
  *bytes = driver().total_bytes;
  return kSuccess;
}

EXPORT CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice) {
  switch (attribute) {
    case 16:  // multiprocessors
      *value = 2;
      return kSuccess;
    case 75:  // compute capability, major
      *value = 9;
      return kSuccess;
    case 76:  // compute capability, minor
      *value = 0;
      return kSuccess;
    default:
      return kInvalidValue;
  }
}

EXPORT CUresult cuDeviceCanAccessPeer(int* can, CUdevice, CUdevice) {
  *can = 0;
  return kSuccess;
}

EXPORT CUresult cuDevicePrimaryCtxRetain(void** context, CUdevice device) {
  *context = &primary_context;
  return with_device(device, "cuDevicePrimaryCtxRetain", [](Driver& owner) -> CUresult {
    owner.contexts++;
    return kSuccess;
  });
}

EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
  const std::lock_guard<std::mutex> lock(driver().mutex);
  if (--driver().contexts == 0 && driver().sticky == kSuccess && !driver().empty()) {
    std::fprintf(stderr,
                 "fake CUDA driver: not freed: %zu of device memory, %zu page-locked, %zu "
                 "registered, %zu streams, %d events, %d modules\n",
                 driver().device.size(), driver().pinned.size(), driver().registered.size(),
                 driver().streams.size(), driver().events, driver().modules);
  }
  return driver().contexts < 0 ? kInvalidContext : kSuccess;
}

EXPORT CUresult cuCtxSetCurrent(void* context) {
  const std::lock_guard<std::mutex> lock(driver().mutex);
  const CUresult result = driver().enter("cuCtxSetCurrent");
  current_context = context;
  return result;
}

EXPORT CUresult cuCtxPushCurrent_v2(void* context) { return cuCtxSetCurrent(context); }

EXPORT CUresult cuCtxPopCurrent_v2(void** context) {
  *context = current_context;
  current_context = nullptr;
  return kSuccess;
}

EXPORT CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return kSuccess;
}

EXPORT CUresult cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
  return in_context("cuMemGetInfo", [=](Driver& owner) -> CUresult {
    *free_bytes = owner.total_bytes - owner.used_bytes;
    *total_bytes = owner.total_bytes;
    return kSuccess;
  });
}

EXPORT CUresult cuMemAlloc_v2(CUdeviceptr* memory, size_t bytes) {
  return in_context("cuMemAlloc", [=](Driver& owner) -> CUresult {
    if (bytes == 0 || bytes > owner.total_bytes - owner.used_bytes) {
      return bytes == 0 ? kInvalidValue : kOutOfMemory;
    }
    *memory = take(owner.device, bytes, kDeviceAlignment);
    owner.used_bytes += bytes;
    return *memory == 0 ? kOutOfMemory : kSuccess;
  });
}

EXPORT CUresult cuMemFree_v2(CUdeviceptr memory) {
  return in_context("cuMemFree", [=](Driver& owner) -> CUresult {
    const auto piece = owner.device.find(memory);
    if (piece == owner.device.end()) {
      return kInvalidValue;
    }
    owner.require_unused(memory, "device memory is freed that pending work may use");
    owner.used_bytes -= piece->second;
    owner.device.erase(piece);
    std::free(pointer(memory));
    return kSuccess;
  });
}

EXPORT CUresult cuMemHostAlloc(void** memory, size_t bytes, unsigned flags) {
  return in_context("cuMemHostAlloc", [=](Driver& owner) -> CUresult {
    if (flags != 3) {  // portable, mapped
      return kInvalidValue;
    }
    *memory = pointer(take(owner.pinned, bytes, kPage));
    return *memory == nullptr ? kOutOfMemory : kSuccess;
  });
}

EXPORT CUresult cuMemFreeHost(void* memory) {
  return in_context("cuMemFreeHost", [=](Driver& owner) -> CUresult {
    owner.require_unused(address_of(memory),
                         "page-locked memory is freed that pending work may use");
    if (owner.pinned.erase(address_of(memory)) == 0) {
      return kInvalidValue;
    }
    std::free(memory);
    return kSuccess;
  });
}

EXPORT CUresult cuMemHostRegister_v2(void* memory, size_t bytes, unsigned flags) {
  return in_context("cuMemHostRegister", [=](Driver& owner) -> CUresult {
    const uint64_t address = address_of(memory);
    const bool fits = flags == 3 && bytes > 0 && address % kPage == 0;
    return fits && owner.registered.emplace(address, bytes).second ? kSuccess : kInvalidValue;
  });
}

EXPORT CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* mapped, void* memory, unsigned) {
  return in_context("cuMemHostGetDevicePointer", [=](Driver&) -> CUresult {
    *mapped = address_of(memory);
    return kSuccess;
  });
}

EXPORT CUresult cuMemHostUnregister(void* memory) {
  return in_context("cuMemHostUnregister", [=](Driver& owner) -> CUresult {
    owner.require_unused(address_of(memory), "memory is unregistered that pending work may use");
    return owner.registered.erase(address_of(memory)) == 1 ? kSuccess : kInvalidValue;
  });
}

EXPORT CUresult cuModuleLoadData(void** module, const void* image) {
  return in_context("cuModuleLoadData", [=](Driver& owner) -> CUresult {
    owner.modules++;
    *module = &module_handle;
    return image != nullptr ? kSuccess : kInvalidValue;
  });
}

EXPORT CUresult cuModuleUnload(void* module) {
  return in_context("cuModuleUnload", [=](Driver& owner) -> CUresult {
    if (owner.pending()) {
      owner.refuse("the module is unloaded with work pending");
    }
    owner.modules--;
    return module == &module_handle ? kSuccess : kInvalidHandle;
  });
}

EXPORT CUresult cuModuleGetFunction(void** function, void* module, const char* name) {
  return in_context("cuModuleGetFunction", [=](Driver&) -> CUresult {
    const Kernel* kernel = find(name);
    *function = const_cast<Kernel*>(kernel);
    return module != &module_handle ? kInvalidHandle : kernel == nullptr ? kNotFound : kSuccess;
  });
}

EXPORT CUresult cuStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  return in_context("cuStreamCreate", [=](Driver& owner) -> CUresult {
    if (flags != 1 || priority > 0 || priority < -5) {
      return kInvalidValue;
    }
    owner.streams.push_back(std::make_shared<Stream>());
    *stream = new Handle(owner.streams.back());
    return kSuccess;
  });
}

EXPORT CUresult cuStreamDestroy_v2(void* stream) {
  return in_context("cuStreamDestroy", [=](Driver& owner) -> CUresult {
    if (!handle(stream)->waiting.empty()) {
      owner.refuse("a stream is destroyed with work pending");
    }
    owner.streams.erase(std::find(owner.streams.begin(), owner.streams.end(), handle(stream)));
    delete static_cast<Handle*>(stream);
    return kSuccess;
  });
}

EXPORT CUresult cuStreamSynchronize(void* stream) {
  return in_context("cuStreamSynchronize", [=](Driver& owner) -> CUresult {
    if (stream == nullptr) {
      return kInvalidHandle;
    }
    if (owner.hangs && !handle(stream)->waiting.empty()) {
      owner.refuse("a call waits for ever");
    }
    owner.run_until(*handle(stream), handle(stream)->submitted);
    return owner.sticky;
  });
}

EXPORT CUresult cuStreamQuery(void* stream) {
  return in_context("cuStreamQuery", [=](Driver& owner) -> CUresult {
    if (!owner.hangs) {
      owner.run_some(*handle(stream));
    }
    return owner.sticky != kSuccess          ? owner.sticky
           : handle(stream)->waiting.empty() ? kSuccess
                                             : kNotReady;
  });
}

EXPORT CUresult cuStreamWaitEvent(void* stream, void* event, unsigned) {
  return in_context("cuStreamWaitEvent", [=](Driver& owner) -> CUresult {
    if (stream == nullptr || event == nullptr) {
      return kInvalidHandle;
    }
    const Event& awaited = event_of(event);
    owner.submit(handle(stream),
                 {[&owner, other = awaited.stream, position = awaited.position]() -> const char* {
                    if (other != nullptr) {
                      owner.run_until(*other, position);
                    }
                    return nullptr;
                  },
                  {}});
    return kSuccess;
  });
}

EXPORT CUresult cuEventCreate(void** event, unsigned) {
  return in_context("cuEventCreate", [=](Driver& owner) -> CUresult {
    owner.events++;
    *event = new std::shared_ptr<Event>(std::make_shared<Event>());
    return kSuccess;
  });
}

EXPORT CUresult cuEventDestroy_v2(void* event) {
  return in_context("cuEventDestroy", [=](Driver& owner) -> CUresult {
    owner.events--;
    delete static_cast<std::shared_ptr<Event>*>(event);
    return kSuccess;
  });
}

EXPORT CUresult cuEventRecord(void* event, void* stream) {
  return in_context("cuEventRecord", [=](Driver& owner) -> CUresult {
    if (stream == nullptr) {
      return kInvalidHandle;
    }
    const std::shared_ptr<Event>& recorded = *static_cast<std::shared_ptr<Event>*>(event);
    const Event recording{handle(stream), handle(stream)->submitted + 1, false, {}};
    *recorded = recording;
    owner.submit(handle(stream),
                 {[recorded, recording]() -> const char* {
                    if (recorded->stream == recording.stream &&
                        recorded->position == recording.position) {  // not recorded again since
                      recorded->passed = true;
                      recorded->at = std::chrono::steady_clock::now();
                    }
                    return nullptr;
                  },
                  {}});
    return kSuccess;
  });
}

EXPORT CUresult cuEventElapsedTime(float* milliseconds, void* from, void* to) {
  return in_context("cuEventElapsedTime", [=](Driver&) -> CUresult {
    const Event& first = event_of(from);
    const Event& second = event_of(to);
    if (first.stream == nullptr || second.stream == nullptr) {
      return kInvalidHandle;
    }
    *milliseconds = std::chrono::duration<float, std::milli>(second.at - first.at).count();
    return first.passed && second.passed ? kSuccess : kNotReady;
  });
}

EXPORT CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, void* stream) {
  return in_context("cuMemcpyAsync", [=](Driver& owner) -> CUresult {
    if (stream == nullptr) {
      return kInvalidHandle;
    }
    if (!owner.reachable(to, bytes) || !owner.reachable(from, bytes)) {
      return owner.sticky = kIllegalAddress;
    }
    owner.submit(handle(stream), {[=]() -> const char* {
                                    std::memmove(pointer(to), pointer(from), bytes);
                                    return nullptr;
                                  },
                                  {to, from}});
    return kSuccess;
  });
}

EXPORT CUresult cuMemsetD8Async(CUdeviceptr memory, unsigned char value, size_t bytes,
                                void* stream) {
  return in_context("cuMemsetD8Async", [=](Driver& owner) -> CUresult {
    if (!owner.contains(owner.device, memory, bytes)) {
      return owner.sticky = kIllegalAddress;
    }
    owner.submit(handle(stream), {[=]() -> const char* {
                                    std::memset(pointer(memory), value, bytes);
                                    return nullptr;
                                  },
                                  {memory}});
    return kSuccess;
  });
}

EXPORT CUresult cuLaunchKernel(void* function, unsigned blocks, unsigned blocks_y,
                               unsigned blocks_z, unsigned threads, unsigned threads_y,
                               unsigned threads_z, unsigned shared_bytes, void* stream,
                               void** parameters, void** extra) {
  return in_context("cuLaunchKernel", [=](Driver& owner) -> CUresult {
    const bool plain = blocks_y == 1 && blocks_z == 1 && threads_y == 1 && threads_z == 1 &&
                       shared_bytes == 0 && extra == nullptr;
    if (!plain || blocks == 0 || threads == 0 || stream == nullptr || function == nullptr) {
      return kInvalidValue;
    }
    Launch launch = static_cast<const Kernel*>(function)->prepare(blocks, threads, parameters);
    const std::vector<uint64_t> words = launch.words;
    owner.submit(handle(stream), {[launch] { return carry_out(launch); }, words});
    owner.hangs |= owner.launches_to_hang > 0 && --owner.launches_to_hang == 0;
    return kSuccess;
  });
}
