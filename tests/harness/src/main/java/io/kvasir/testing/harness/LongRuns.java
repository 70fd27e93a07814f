package io.kvasir.testing.harness;

/**
 * Whether tests run in their long form: the environment variable {@code KVASIR_LONG} is 1.
 * Stateless.
 */
public final class LongRuns {

  private LongRuns() {}

  /** {@return whether they do} */
  public static boolean on() {
    return "1".equals(System.getenv("KVASIR_LONG"));
  }

  /**
   * Chooses a number of cases.
   *
   * @param usual in the usual form
   * @param all in the long form
   * @return the number
   */
  public static int cases(int usual, int all) {
    return on() ? all : usual;
  }
}
