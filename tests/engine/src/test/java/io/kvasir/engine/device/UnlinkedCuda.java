package io.kvasir.engine.device;

/** A driver whose library cannot be loaded: nothing else may be asked of it. */
record UnlinkedCuda(String message) implements CudaApi {

  @Override
  public int driverVersion() {
    throw new UnsatisfiedLinkError(message);
  }

  @Override
  public void init() {
    throw new AssertionError("asked after the first failure");
  }

  @Override
  public int deviceCount() {
    throw new AssertionError("asked after the first failure");
  }

  @Override
  public CudaDevice device(int ordinal) {
    throw new AssertionError("asked after the first failure");
  }

  @Override
  public long freeBytes(int ordinal) {
    throw new AssertionError("asked after the first failure");
  }

  @Override
  public DeviceApi open(CudaDevice device) {
    throw new AssertionError("not to be used");
  }

  @Override
  public boolean canAccessPeer(int from, int to) {
    throw new AssertionError("asked after the first failure");
  }
}
