// Launches by the interpreter of PTX in place of the shim, for Java's tests: KVASIR_TEST_DEVICE=ptx
// chooses it, with the PTX of the build or that of KVASIR_TEST_PTX. Data races are not looked for.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "ptx_machine.hpp"

class PtxLaunches {
 public:
  PtxLaunches() : module_(ptx::read_text(path())), machine_(memory, false) {
    for (const auto& constant : module_.constants()) {
      memory.add(constant.data(), constant.size() * sizeof(uint64_t), true);
    }
  }

  void seed(uint64_t seed) { machine_.seed(seed); }

  std::function<void()> prepare(const std::string& kernel, uint32_t blocks, uint32_t threads,
                                void** parameters) {
    return [this, threads, grid = ptx::make_grid(module_.kernel(kernel), blocks, parameters)] {
      machine_.run({grid}, threads);
    };
  }

  ptx::Memory memory{true};

 private:
  static std::string path() {
    const char* other = std::getenv("KVASIR_TEST_PTX");
    return other != nullptr ? other : KVASIR_PTX;
  }

  ptx::Module module_;
  ptx::Machine machine_;
};

// Null if the shim runs the kernels.
inline PtxLaunches* ptx_launches() {
  static PtxLaunches* const launches = []() -> PtxLaunches* {
    const char* device = std::getenv("KVASIR_TEST_DEVICE");
    if (device == nullptr || std::string(device) != "ptx") {
      return nullptr;
    }
    try {
      return new PtxLaunches;
    } catch (const ptx::Fault& fault) {
      std::fprintf(stderr, "KVASIR_TEST_DEVICE=ptx: %s\n", fault.what());
      std::_Exit(70);
    }
  }();
  return launches;
}
