package io.kvasir.engine.device;

/**
 * A device, or what lives on it, is lost: it does not answer, an error sticks to its context, or
 * what it answers contradicts what was asked. The rank on it is retired; nothing on the device may
 * be used again. Immutable.
 */
public final class FatalDeviceException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /**
   * Makes the exception.
   *
   * @param message what was lost and why, in one line
   * @param cause what the driver said, or null
   */
  public FatalDeviceException(String message, Throwable cause) {
    super(message, cause);
  }
}
