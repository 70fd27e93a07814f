package io.kvasir.engine.lockstep;

/** The members cannot go on in step: one is of another version, or the group has come apart. */
public class LockstepException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /**
   * An error of the group.
   *
   * @param message which member, and what is wrong with it
   */
  public LockstepException(String message) {
    super(message);
  }

  /**
   * An error of the group with a cause.
   *
   * @param message which member, and what is wrong with it
   * @param cause what was thrown
   */
  public LockstepException(String message, Throwable cause) {
    super(message, cause);
  }
}
