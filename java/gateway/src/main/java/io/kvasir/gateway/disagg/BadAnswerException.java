package io.kvasir.gateway.disagg;

/** The answer to a prefill leg is not what its engine promises. */
public final class BadAnswerException extends Exception {

  private static final long serialVersionUID = 1;

  /**
   * Creates the exception.
   *
   * @param message what is wrong, in words, without text of the engine's
   */
  BadAnswerException(String message) {
    super(message);
  }
}
