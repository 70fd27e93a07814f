// A CUDA driver without a device: the driver API calls that Kvasir makes through JCuda, in host
// memory, with kernels on the CPU. Built as libcuda.so.1 in its own folder, for tests that put it
// on the library path of a process: FakeDriverTest.java.
//
// Streams are lazy: copies, fills, launches and event records are carried out when something waits
// for them, or before that by chance, during any call. The process ends with a message on the error
// stream if a stream is destroyed or the module unloaded with work pending, or if memory is freed
// that pending work may use: every word in memory that the work may use counts as an address.
// Allocated memory contains garbage; copies and fills must stay within it. Resources left when the
// last context is destroyed are reported on the error stream. KVASIR_TEST_DEVICE=ptx runs the PTX
// of the kernels instead, which must then stay within allocated memory: ptx_launches.hpp.
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

#include "fake_cuda_state.hpp"
#include "shim_kernels.hpp"

using namespace fake_cuda;

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
    *memory = take(owner.device, bytes, kDeviceAlignment, false);
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
    forget_memory(memory);
    std::free(pointer(memory));
    return kSuccess;
  });
}

EXPORT CUresult cuMemHostAlloc(void** memory, size_t bytes, unsigned flags) {
  return in_context("cuMemHostAlloc", [=](Driver& owner) -> CUresult {
    if (flags != 3) {  // portable, mapped
      return kInvalidValue;
    }
    *memory = pointer(take(owner.pinned, bytes, kPage, true));
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
    forget_memory(address_of(memory));
    std::free(memory);
    return kSuccess;
  });
}

EXPORT CUresult cuMemHostRegister_v2(void* memory, size_t bytes, unsigned flags) {
  return in_context("cuMemHostRegister", [=](Driver& owner) -> CUresult {
    const uint64_t address = address_of(memory);
    const bool fits = flags == 3 && bytes > 0 && address % kPage == 0;
    if (!fits || !owner.registered.emplace(address, bytes).second) {
      return kInvalidValue;
    }
    know_memory(address, bytes, true);
    return kSuccess;
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
    forget_memory(address_of(memory));
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
                                    written_memory(to, bytes);
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
                                    written_memory(memory, bytes);
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
    Launch launch = prepare(*static_cast<const Kernel*>(function), blocks, threads, parameters);
    const std::vector<uint64_t> words = launch.words;
    owner.submit(handle(stream), {[launch] { return carry_out(launch); }, words});
    owner.hangs |= owner.launches_to_hang > 0 && --owner.launches_to_hang == 0;
    return kSuccess;
  });
}
