#include "kvasir/platform.hpp"

namespace kvasir {
uint32_t abi_version() { return KVASIR_ABI_VERSION; }
}  // namespace kvasir
