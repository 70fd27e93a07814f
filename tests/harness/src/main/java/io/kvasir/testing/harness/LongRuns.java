package io.kvasir.testing.harness;

import java.util.List;
import java.util.stream.Stream;

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

  /**
   * Chooses cases.
   *
   * @param <T> their type
   * @param usual those of both forms
   * @param more those of the long form only
   * @return the cases
   */
  public static <T> List<T> cases(List<T> usual, List<T> more) {
    return on() ? Stream.concat(usual.stream(), more.stream()).toList() : usual;
  }
}
