package io.kvasir.tokens.chat;

/** A request whose prompt is not known from the request alone. */
public final class UnclearRequestException extends Exception {

  private static final long serialVersionUID = 1L;

  /**
   * Makes the exception.
   *
   * @param reason what is not known, without text of the request
   */
  public UnclearRequestException(String reason) {
    super(reason, null, false, false);
  }
}
