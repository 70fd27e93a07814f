package io.kvasir.engine.adp;

import jcuda.driver.JCudaDriver;

/** Breaks a rule on purpose: the device package alone touches the CUDA bindings. */
public final class RouterThatDrives {

  private RouterThatDrives() {}

  static int init() {
    return JCudaDriver.cuInit(0);
  }
}
