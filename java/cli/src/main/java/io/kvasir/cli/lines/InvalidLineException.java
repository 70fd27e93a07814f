package io.kvasir.cli.lines;

/** An invalid input line. The message names the field and what is allowed. */
public final class InvalidLineException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /**
   * Makes the exception.
   *
   * @param message the field and what is allowed
   */
  public InvalidLineException(String message) {
    super(message);
  }
}
