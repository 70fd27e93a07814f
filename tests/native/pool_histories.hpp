// Random histories (device_pool_history.hpp) on small pools, over a Device.
#pragma once

#include "device_pool_history.hpp"

namespace kvasir {

// One history on a small pool: roomy, tight, with long leases, or with few events kept.
template <typename Device, typename AfterStep>
Seen run_history(Device& device, uint64_t seed, int steps, AfterStep after_step) {
  const PoolShape shapes[] = {{200, 4, 12, 24, 1u << 12},
                              {40, 1, 6, 20, 16},
                              {300, 3, 8, 100, 1u << 12},
                              {90, 5, 16, 33, 8}};
  g_seed = seed;
  device.seed(seed * 7919);
  History<Device> history(device, seed, shapes[seed % 4], seed % 3 == 0 ? 2 : 32, seed % 5 < 2);
  for (int step = 0; step < steps; step++) {
    history.step();
    after_step();
  }
  return history.seen();
}

// One history whose requests share their prompts.
template <typename Device, typename AfterTurn>
Seen run_shared_history(Device& device, uint64_t seed, int turns, AfterTurn after_turn) {
  g_seed = seed;
  device.seed(seed * 7919);
  History<Device> history(device, seed, {150, 8, 12, 24, 8}, 32, false);
  for (int turn = 0; turn < turns; turn++) {
    history.turn_over_together();
    after_turn();
  }
  return history.seen();
}

template <typename Device>
Seen run_histories(Device& device, uint64_t seeds, int steps) {
  Seen all = run_shared_history(device, seeds + 1, steps, [] {});
  for (uint64_t seed = 1; seed <= seeds; seed++) {
    all.add(run_history(device, seed, steps, [] {}));
  }
  return all;
}

}  // namespace kvasir
