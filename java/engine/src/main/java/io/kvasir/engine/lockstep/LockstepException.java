package io.kvasir.engine.lockstep;

/** The members cannot continue in step: one has another version, or the group has failed. */
public class LockstepException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /**
   * Creates an error of the group.
   *
   * @param message the member and the problem
   */
  public LockstepException(String message) {
    super(message);
  }

  /**
   * Creates an error of the group with a cause.
   *
   * @param message the member and the problem
   * @param cause the underlying exception
   */
  public LockstepException(String message, Throwable cause) {
    super(message, cause);
  }
}
