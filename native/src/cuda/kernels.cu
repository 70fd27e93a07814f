// The kernel module: thin loops over the functions that host and device share.

#include "kvasir/platform.hpp"

extern "C" __global__ void kvasir_module_abi(uint32_t* version) { *version = KVASIR_ABI_VERSION; }
