package io.kvasir.simulator.trace;

import java.io.IOException;

/**
 * The trace is invalid: correct the file, or the option that describes it. The message is one line
 * that starts with the file and, where applicable, the line number.
 */
public final class InvalidTraceException extends IOException {

  private static final long serialVersionUID = 1L;

  /**
   * Creates the exception.
   *
   * @param message {@code FILE: ...} or {@code FILE:LINE: ...}
   */
  public InvalidTraceException(String message) {
    super(message);
  }

  /**
   * Creates the exception with a cause.
   *
   * @param message {@code FILE: ...} or {@code FILE:LINE: ...}
   * @param cause the exception of the parser or decompressor
   */
  public InvalidTraceException(String message, Throwable cause) {
    super(message, cause);
  }
}
