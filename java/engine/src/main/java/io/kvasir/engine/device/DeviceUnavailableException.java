package io.kvasir.engine.device;

import java.util.Objects;

/**
 * A GPU was asked for and cannot be had. The message is one line: the reason, then the remedy.
 * Immutable.
 */
public final class DeviceUnavailableException extends Exception {

  private static final long serialVersionUID = 1L;

  /**
   * Makes the exception.
   *
   * @param cause why there is no GPU and what helps
   */
  public DeviceUnavailableException(Unavailability cause) {
    super(Objects.requireNonNull(cause, "cause").reason() + "; " + cause.remedy());
  }
}
