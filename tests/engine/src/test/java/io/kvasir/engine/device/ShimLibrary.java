package io.kvasir.engine.device;

/**
 * Runs the kernels on the CPU: the library that {@code tests/native/shim_driver.cpp} becomes.
 *
 * <p>Threads of a launch interleave at random. Launches run one at a time, whoever calls. A kernel
 * that breaks a rule of warps or barriers throws {@link AssertionError}.
 */
final class ShimLibrary {

  static {
    System.load(System.getProperty("kvasir.shim"));
  }

  private ShimLibrary() {}

  /**
   * Runs a kernel to its end.
   *
   * @param kernel its name
   * @param blocks blocks of the grid
   * @param threads threads of a block, a multiple of 32
   * @param parameters address of an array of the parameters' addresses, as cuLaunchKernel takes it
   * @return 0, or 98 (CUDA_ERROR_INVALID_DEVICE_FUNCTION) for an unknown name
   */
  static native int launch(String kernel, int blocks, int threads, long parameters);

  /** Begins another sequence of interleavings. */
  static native void seed(long seed);

  /** Names of the kernels that {@link #launch} knows. */
  static native String[] kernels();
}
