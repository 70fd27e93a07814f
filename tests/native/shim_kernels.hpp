// The kernels by name, launched on the CPU with an array of parameter addresses, as in
// cuLaunchKernel.
//
// The shim's scheduler runs on the calling thread; one launch at a time. A failed check, on a fiber
// or outside, jumps back to the launch, which reports it. The scheduler is then recreated; the
// stacks of its fibers leak.
#pragma once

#include <mutex>
#include <string>
#include <utility>

#include "cuda_shim.hpp"

// The kernels; the shim must be included before them.
#include "../../native/src/cuda/kernels.cu"

// Not a kernel of the module: lanes reach different primitives, which may hang a device.
extern "C" __global__ inline void shim_diverging_kernel() {
  if (threadIdx.x % 2 == 0) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}

namespace {

template <typename... Types, size_t... i>
void launch_with(void (*kernel)(Types...), uint32_t blocks, uint32_t threads,
                 [[maybe_unused]] void** parameters, std::index_sequence<i...>) {
  shim::launch(kernel, blocks, threads, *static_cast<Types*>(parameters[i])...);
}

template <typename... Types>
void launch_with(void (*kernel)(Types...), uint32_t blocks, uint32_t threads, void** parameters) {
  launch_with(kernel, blocks, threads, parameters, std::index_sequence_for<Types...>());
}

template <auto kernel>
void launch(uint32_t blocks, uint32_t threads, void** parameters) {
  launch_with(kernel, blocks, threads, parameters);
}

struct Kernel {
  const char* name;
  void (*launch)(uint32_t blocks, uint32_t threads, void** parameters);
};

template <auto kernel>
Kernel entry(const char* name) {
  return {name, launch<kernel>};
}

#define KERNEL(name) entry<&name>(#name)

// clang-format off
const Kernel kKernels[] = {
    KERNEL(kvasir_hash_chain),
    KERNEL(kvasir_hash_local),
    KERNEL(kvasir_kv_stamp),
    KERNEL(kvasir_module_abi),
    KERNEL(kvasir_pool_clear),
    KERNEL(kvasir_pool_commit_check),
    KERNEL(kvasir_pool_commit_claim),
    KERNEL(kvasir_pool_commit_finish),
    KERNEL(kvasir_pool_commit_name),
    KERNEL(kvasir_pool_commit_plan),
    KERNEL(kvasir_pool_commit_sequential),
    KERNEL(kvasir_pool_extend_grow),
    KERNEL(kvasir_pool_extend_plan),
    KERNEL(kvasir_pool_initialise),
    KERNEL(kvasir_pool_lease_admit),
    KERNEL(kvasir_pool_lease_match),
    KERNEL(kvasir_pool_lease_plan),
    KERNEL(kvasir_pool_lease_unpin),
    KERNEL(kvasir_pool_occupancy),
    KERNEL(kvasir_pool_release_drop),
    KERNEL(kvasir_pool_release_plan),
    KERNEL(kvasir_pool_removed_events),
    KERNEL(kvasir_pool_select),
    KERNEL(kvasir_pool_take_victims),
    KERNEL(kvasir_probe),
    KERNEL(shim_diverging_kernel),
};
// clang-format on

std::mutex one_launch;
jmp_buf launch_frame;
char failed_check[512];

void jump_back(const char* message) {
  std::strncpy(failed_check, message, sizeof failed_check - 1);
  _longjmp(launch_frame, 1);
}

// False if a check failed. The jump leaks the launch's few words of heap.
bool launched(const Kernel& kernel, uint32_t blocks, uint32_t threads, void** parameters) {
  if (_setjmp(launch_frame) != 0) {
    return false;
  }
  kernel.launch(blocks, threads, parameters);
  return true;
}

const Kernel* find(const std::string& name) {
  for (const Kernel& kernel : kKernels) {
    if (name == kernel.name) {
      return &kernel;
    }
  }
  return nullptr;
}

// Runs a kernel to its end; returns the message of a failed check, or null.
inline const char* launch_kernel(const Kernel& kernel, uint32_t blocks, uint32_t threads,
                                 void** parameters) {
  const std::lock_guard<std::mutex> lock(one_launch);
  g_on_failed_check = jump_back;
  if (launched(kernel, blocks, threads, parameters)) {
    return nullptr;
  }
  shim::Scheduler::get() = shim::Scheduler();
  return failed_check;
}

inline void seed_launches(uint64_t seed) {
  const std::lock_guard<std::mutex> lock(one_launch);
  g_seed = seed;
  shim::Scheduler::get().seed(g_seed);
}

}  // namespace
