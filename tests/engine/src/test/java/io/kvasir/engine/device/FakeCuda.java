package io.kvasir.engine.device;

import java.util.List;

/** A driver with the devices it is given, and with one call that fails. */
final class FakeCuda implements CudaApi {

  /** Machine code of two generations and PTX, made by CUDA 13. */
  static final KernelModule KERNELS =
      new KernelModule(1000, List.of("sm_80", "sm_90", "compute_90"), "13.0", 1, "compute_80");

  private final int version;
  private final List<CudaDevice> devices;
  private final RuntimeException initFailure;

  private FakeCuda(int version, List<CudaDevice> devices, RuntimeException initFailure) {
    this.version = version;
    this.devices = devices;
    this.initFailure = initFailure;
  }

  static FakeCuda with(int version, CudaDevice... devices) {
    return new FakeCuda(version, List.of(devices), null);
  }

  static FakeCuda failing(int code) {
    return new FakeCuda(13000, List.of(), new DriverCallException("cuInit", code, "CUDA_ERROR"));
  }

  static CudaDevice device(int ordinal, int major, int minor) {
    return new CudaDevice(
        ordinal, "GPU " + ordinal, "uuid", "0000:0" + ordinal + ":00.0", major, minor, 100, -1);
  }

  @Override
  public int driverVersion() {
    return version;
  }

  @Override
  public void init() {
    if (initFailure != null) {
      throw initFailure;
    }
  }

  @Override
  public int deviceCount() {
    return devices.size();
  }

  @Override
  public CudaDevice device(int ordinal) {
    return devices.get(ordinal);
  }

  @Override
  public long freeBytes(int ordinal) {
    if (ordinal == 1) {
      throw new DriverCallException("cuDevicePrimaryCtxRetain", 46, "CUDA_ERROR");
    }
    return 60;
  }

  @Override
  public DeviceApi open(CudaDevice device) {
    throw new AssertionError("not to be used");
  }

  /** Device 0 reaches all, the others only device 0; device 2 fails to answer. */
  @Override
  public boolean canAccessPeer(int from, int to) {
    if (from == 2) {
      throw new DriverCallException("cuDeviceCanAccessPeer", 101, "CUDA_ERROR");
    }
    return from == 0 || to == 0;
  }
}
