// The kernels by name, launched on the CPU with an array of parameter addresses, as in
// cuLaunchKernel. The parameters are copied first, so that a launch can be carried out later.
//
// The shim's scheduler runs on the calling thread; one launch at a time. A failed check, on a fiber
// or outside, jumps back to the launch, which reports it. The scheduler is then recreated; the
// stacks of its fibers leak.
#pragma once

#include <mutex>
#include <string>
#include <tuple>
#include <utility>

#include "cuda_shim.hpp"
#include "kernel_list.hpp"
#include "parameter_words.hpp"
#include "ptx_launches.hpp"

// The kernels; the shim must be included before them.
#include "../../native/src/cuda/kernels.cu"
#include "kv_stamp.cu"

// Not a kernel of the module: lanes reach different primitives, which may hang a device.
extern "C" __global__ inline void shim_diverging_kernel() {
  if (threadIdx.x % 2 == 0) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}

namespace {

struct Launch {
  std::function<void()> run;
  std::vector<uint64_t> words;  // of the parameters; some are addresses
};

template <typename... Types, size_t... i>
Launch prepare(void (*kernel)(Types...), uint32_t blocks, uint32_t threads,
               [[maybe_unused]] void** parameters, std::index_sequence<i...>) {
  Launch launch;
  (append_words(launch.words, parameters[i], sizeof(Types)), ...);
  launch.run = [kernel, blocks, threads,
                values = std::tuple<Types...>{*static_cast<Types*>(parameters[i])...}] {
    shim::launch(kernel, blocks, threads, std::get<i>(values)...);
  };
  return launch;
}

template <typename... Types>
Launch prepare(void (*kernel)(Types...), uint32_t blocks, uint32_t threads, void** parameters) {
  return prepare(kernel, blocks, threads, parameters, std::index_sequence_for<Types...>());
}

template <auto kernel>
Launch prepare(uint32_t blocks, uint32_t threads, void** parameters) {
  return prepare(kernel, blocks, threads, parameters);
}

struct Kernel {
  const char* name;
  Launch (*prepare)(uint32_t blocks, uint32_t threads, void** parameters);
};

template <auto kernel>
Kernel entry(const char* name) {
  return {name, prepare<kernel>};
}

#define KERNEL(name) entry<&name>(#name),

const Kernel kKernels[] = {KVASIR_KERNELS(KERNEL) KERNEL(shim_diverging_kernel)};

std::mutex one_launch;
jmp_buf launch_frame;
char failed_check[512];

void jump_back(const char* message) {
  std::strncpy(failed_check, message, sizeof failed_check - 1);
  _longjmp(launch_frame, 1);
}

// False if a check failed. The jump leaks the launch's few words of heap.
bool carried_out(const Launch& launch) {
  if (_setjmp(launch_frame) != 0) {
    return false;
  }
  try {
    launch.run();
  } catch (const ptx::Fault& fault) {
    std::snprintf(failed_check, sizeof failed_check, "%s, seed %llu", fault.what(),
                  static_cast<unsigned long long>(g_seed));
    return false;
  }
  return true;
}

// Only the shim has the kernel that is not of the module.
Launch prepare(const Kernel& kernel, uint32_t blocks, uint32_t threads, void** parameters) {
  Launch launch = kernel.prepare(blocks, threads, parameters);
  if (ptx_launches() != nullptr && kernel.name != std::string("shim_diverging_kernel")) {
    launch.run = ptx_launches()->prepare(kernel.name, blocks, threads, parameters);
  }
  return launch;
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
inline const char* carry_out(const Launch& launch) {
  const std::lock_guard<std::mutex> lock(one_launch);
  g_on_failed_check = jump_back;
  if (carried_out(launch)) {
    return nullptr;
  }
  shim::Scheduler::get() = shim::Scheduler();
  return failed_check;
}

inline void seed_launches(uint64_t seed) {
  const std::lock_guard<std::mutex> lock(one_launch);
  g_seed = seed;
  shim::Scheduler::get().seed(g_seed);
  if (ptx_launches() != nullptr) {
    ptx_launches()->seed(seed);
  }
}

}  // namespace
