package io.kvasir.simulator.trace;

import java.io.IOException;

/**
 * A trace that cannot be used as it is: correct the file, or the option that describes it. The
 * message is one line that begins with the file and, where there is one, the line number.
 */
public final class InvalidTraceException extends IOException {

  private static final long serialVersionUID = 1L;

  /**
   * Makes the exception.
   *
   * @param message {@code FILE: ...} or {@code FILE:LINE: ...}
   */
  public InvalidTraceException(String message) {
    super(message);
  }

  /**
   * Makes the exception with what was found underneath.
   *
   * @param message {@code FILE: ...} or {@code FILE:LINE: ...}
   * @param cause the parser's or decompressor's complaint
   */
  public InvalidTraceException(String message, Throwable cause) {
    super(message, cause);
  }
}
