package io.kvasir.engine.device;

/**
 * A device refused a call and works on: what was asked for has not happened and may be asked for
 * again, later or smaller. Immutable.
 */
public class RetryableDeviceException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /**
   * Makes the exception.
   *
   * @param message what was refused and why, in one line
   * @param cause what the driver said, or null
   */
  public RetryableDeviceException(String message, Throwable cause) {
    super(message, cause);
  }
}
