package io.kvasir.cli.terminal;

/** Exit codes of the process. */
public final class ExitCode {

  /** The work is done. */
  public static final int DONE = 0;

  /** The work failed. */
  public static final int FAILED = 1;

  /** Usage, configuration or input was wrong. */
  public static final int USAGE = 2;

  private ExitCode() {}
}
