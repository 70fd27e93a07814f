// The device pool's kernels, run on the host by the shim, beside the CPU pool.

#include "shim_device.hpp"

int main() {
  using namespace kvasir;
  // Switching stacks is slow under AddressSanitizer.
#if defined(__SANITIZE_ADDRESS__)
  const int steps = 16;
#else
  const int steps = 150;
#endif
  ShimDevice device;
  const Seen all = run_histories(device, 24, steps);
  all.print();
  CHECK(all.refused > 0 && all.matched > 0 && all.evicted > 0 && all.collisions > 0);
  CHECK(all.shared > 0 && all.cleared > 0 && all.lost_events > 0 && all.watched > 0);
  std::puts("device_pool_test: ok");
  return 0;
}
