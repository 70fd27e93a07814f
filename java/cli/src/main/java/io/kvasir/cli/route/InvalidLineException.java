package io.kvasir.cli.route;

/** An input line that cannot be carried out; the message names the field and what is allowed. */
final class InvalidLineException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  InvalidLineException(String message) {
    super(message);
  }
}
