// The kernel module: one translation unit, one fatbin.

#include "block_hash.cu"
#include "device_primitives.cuh"
#include "pool_commit.cu"
#include "pool_evict.cu"
#include "pool_extend.cu"
#include "pool_lease.cu"
#include "pool_probe.cu"
#include "pool_release.cu"
#include "pool_state.cu"
#include "pool_submission.cu"

extern "C" __global__ void kvasir_module_abi(uint32_t* version) {
  if (kvasir::thread_in_grid() == 0) {
    *version = KVASIR_ABI_VERSION;
  }
}
