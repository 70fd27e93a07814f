package io.kvasir.fleet.router.trtllm;

/** There is no server to choose from: none is known, or the only one is excluded. */
public final class NoServerException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /**
   * Makes the exception.
   *
   * @param message what is missing
   */
  public NoServerException(String message) {
    super(message);
  }
}
