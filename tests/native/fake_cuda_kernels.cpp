// The module of the fake CUDA driver, and the launches of its kernels.

#include "fake_cuda_state.hpp"
#include "shim_kernels.hpp"

using namespace fake_cuda;

EXPORT CUresult cuModuleLoadData(void** module, const void* image) {
  return in_context("cuModuleLoadData", [=](Driver& owner) -> CUresult {
    if (image == nullptr) {
      return kInvalidValue;
    }
    // A module of nvcc 13 is nothing to a driver before; PTX text must be of a version it knows.
    const bool fatbin = std::memcmp(image, "\x50\xED\x55\xBA", 4) == 0;
    const char* text = fatbin ? "" : static_cast<const char*>(image);
    if (owner.version < kDriverVersion && std::strstr(text, "\n.version 7.0\n") == nullptr) {
      return kNoBinary;
    }
    owner.modules++;
    *module = &module_handle;
    return kSuccess;
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
    owner.counts[static_cast<const Kernel*>(function)->name]++;
    Launch launch = prepare(*static_cast<const Kernel*>(function), blocks, threads, parameters);
    const std::vector<uint64_t> words = launch.words;
    owner.submit(handle(stream), {[launch] { return carry_out(launch); }, words});
    owner.hangs |= owner.launches_to_hang > 0 && --owner.launches_to_hang == 0;
    return kSuccess;
  });
}
