package io.kvasir.engine.device;

import org.jspecify.annotations.Nullable;

/**
 * A device, or an object on it, is lost: the device does not respond, its context has a sticky
 * error, or its results are inconsistent. The rank on the device is retired. Nothing on the device
 * may be used again. Immutable.
 */
public final class FatalDeviceException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /**
   * Makes the exception.
   *
   * @param message what is lost and why, in one line
   * @param cause the driver's error, or null
   */
  public FatalDeviceException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
