package io.kvasir.cli;

/** What the process tells its caller. */
final class ExitCode {

  /** The work is done. */
  static final int DONE = 0;

  /** The work failed. */
  static final int FAILED = 1;

  /** Wrong usage, configuration or input: nothing was done. */
  static final int USAGE = 2;

  private ExitCode() {}
}
