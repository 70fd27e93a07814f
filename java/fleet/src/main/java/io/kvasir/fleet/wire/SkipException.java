package io.kvasir.fleet.wire;

/** Ends the reading of an event. Has no stack trace. */
final class SkipException extends Exception {

  private static final long serialVersionUID = 1;

  private final SkipCause cause;

  SkipException(SkipCause cause) {
    super(cause.name(), null, false, false);
    this.cause = cause;
  }

  SkipCause skipCause() {
    return cause;
  }
}
