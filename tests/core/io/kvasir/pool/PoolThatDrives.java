package io.kvasir.pool;

import jcuda.driver.JCudaDriver;

/** Breaks a rule on purpose: the device package alone touches the CUDA bindings. */
public final class PoolThatDrives {

  private PoolThatDrives() {}

  static int init() {
    return JCudaDriver.cuInit(0);
  }
}
