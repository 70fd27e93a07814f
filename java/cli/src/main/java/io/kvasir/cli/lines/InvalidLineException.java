package io.kvasir.cli.lines;

/** An input line that cannot be carried out; the message names the field and what is allowed. */
public final class InvalidLineException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /**
   * Makes the exception.
   *
   * @param message what is wrong
   */
  public InvalidLineException(String message) {
    super(message);
  }
}
