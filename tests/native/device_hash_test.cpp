// Compares the hash kernels, run on the host by the shim, with hash_prompt().

#include "shim_device.hpp"

int main() {
  using namespace kvasir;
  ShimDevice device;
  run_hash_batches(device, 10, 6);
  std::puts("device_hash_test: ok");
  return 0;
}
