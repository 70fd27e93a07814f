package io.kvasir.engine.device;

import org.jspecify.annotations.Nullable;

/**
 * A device refused a call but remains usable. The call had no effect and may be retried later or
 * with a smaller size. Immutable.
 */
public class RetryableDeviceException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /**
   * Makes the exception.
   *
   * @param message what was refused and why, in one line
   * @param cause the driver's error, or null
   */
  public RetryableDeviceException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
