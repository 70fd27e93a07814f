// The functions that Java calls: inline functions over addresses, one header per area. JavaCPP's
// glue includes this file; nothing else in native/ depends on Java.
#pragma once

#include "device_pool_bridge.hpp"
#include "directory_bridge.hpp"
#include "hash_bridge.hpp"
#include "index_bridge.hpp"
#include "mpi_bridge.hpp"
#include "pool_bridge.hpp"

// The version that Java, this library and the kernel module must share.
inline int kvasir_abi_version() noexcept { return KVASIR_ABI_VERSION; }
