package io.kvasir.device;

import io.kvasir.pool.BlockPool;

/** Breaks a rule on purpose: devices know nothing of pools. */
public final class DeviceThatLeases {

  private DeviceThatLeases() {}

  static void clear(BlockPool pool) {
    pool.clear();
  }
}
