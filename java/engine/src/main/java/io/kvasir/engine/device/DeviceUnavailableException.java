package io.kvasir.engine.device;

import java.util.Objects;

/**
 * A requested GPU cannot be used. The message is one line: the reason, then the remedy. Immutable.
 */
public final class DeviceUnavailableException extends Exception {

  private static final long serialVersionUID = 1L;

  /**
   * Makes the exception.
   *
   * @param cause the reason and the remedy
   */
  public DeviceUnavailableException(Unavailability cause) {
    super(Objects.requireNonNull(cause, "cause").reason() + "; " + cause.remedy());
  }
}
