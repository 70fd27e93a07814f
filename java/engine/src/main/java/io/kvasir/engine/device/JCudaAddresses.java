package io.kvasir.engine.device;

import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;

/** Addresses in JCuda's representation. Immutable. */
final class JCudaAddresses {

  /** Of page-locked memory of the host. */
  static final class HostAddress extends Pointer {
    HostAddress(long address) {
      super(address);
    }

    long value() {
      return getNativePointer() + getByteOffset();
    }
  }

  /** Of memory of a device. */
  static final class DeviceAddress extends CUdeviceptr {
    private static final CUdeviceptr ZERO = new CUdeviceptr();

    DeviceAddress(long address) {
      super(ZERO, address);
    }

    long value() {
      return getNativePointer() + getByteOffset();
    }
  }

  private JCudaAddresses() {}
}
