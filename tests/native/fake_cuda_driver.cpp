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
//
// This file has the device, its contexts and its memory.

#include <cstdio>
#include <cstdlib>

#include "fake_cuda_state.hpp"

using namespace fake_cuda;

EXPORT CUresult cuInit(unsigned) { return kSuccess; }

EXPORT CUresult cuDriverGetVersion(int* version) {
  *version = driver().version;
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
                 "fake CUDA driver: not freed: %zu of device memory, %zu page-locked, "
                 "%zu streams, %d events, %d modules\n",
                 driver().device.size(), driver().pinned.size(), driver().streams.size(),
                 driver().events, driver().modules);
  }
  return driver().contexts < 0 ? kInvalidContext : kSuccess;
}

EXPORT CUresult cuCtxSetCurrent(void* context) {
  const std::lock_guard<std::mutex> lock(driver().mutex);
  const CUresult result = driver().enter("cuCtxSetCurrent");
  current_context = context;
  return result;
}

EXPORT CUresult cuCtxGetCurrent(void** context) {
  *context = current_context;
  return kSuccess;
}

// A context of another library: the handles of the primary one are refused in it.
EXPORT CUresult cuCtxCreate_v2(void** context, unsigned, CUdevice) {
  static int other;
  *context = &other;
  return cuCtxSetCurrent(&other);
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
