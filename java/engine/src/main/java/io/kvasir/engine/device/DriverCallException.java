package io.kvasir.engine.device;

/** A call of the CUDA driver or of NVML returned an error code. Immutable. */
public final class DriverCallException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final int code;

  /**
   * Makes the exception.
   *
   * @param call the function that failed, for example {@code cuInit}
   * @param code the error code
   * @param meaning the binding's name of the code
   */
  public DriverCallException(String call, int code, String meaning) {
    super(call + " failed: " + meaning + " (" + code + ")");
    this.code = code;
  }

  /** {@return the error code, a {@code CUresult} or {@code nvmlReturn_t}} */
  public int code() {
    return code;
  }
}
