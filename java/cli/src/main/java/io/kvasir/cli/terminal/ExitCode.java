package io.kvasir.cli.terminal;

/** What the process tells its caller. */
public final class ExitCode {

  /** The work is done. */
  public static final int DONE = 0;

  /** The work failed. */
  public static final int FAILED = 1;

  /** Wrong usage, configuration or input: nothing was done. */
  public static final int USAGE = 2;

  private ExitCode() {}
}
