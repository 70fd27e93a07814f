package io.kvasir.simulator.timing;

import java.io.IOException;

/** A log cannot be used. The message is one line that starts with the file. */
public final class InvalidLogException extends IOException {

  private static final long serialVersionUID = 1L;

  /**
   * Creates the exception.
   *
   * @param message {@code FILE: ...} or {@code FILE:LINE: ...}
   */
  public InvalidLogException(String message) {
    super(message);
  }
}
