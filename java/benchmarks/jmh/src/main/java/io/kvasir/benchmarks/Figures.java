package io.kvasir.benchmarks;

/** Prints measured figures, a line each, as tests/gpu/run reads them. */
final class Figures {

  private Figures() {}

  static void print(String name, double value, String unit) {
    print(name, value, unit, "");
  }

  /** With what it could be at best, in the same unit. */
  static void print(String name, double value, String unit, double floor) {
    print(name, value, unit, "%.4g".formatted(floor));
  }

  static void print(String name, double value, String unit, String floor) {
    System.out.println("figure %s %.4g %s %s".formatted(name, value, unit, floor).stripTrailing());
  }

  /** The middle one of measured times, in microseconds. */
  static double medianUs(long[] ns) {
    long[] sorted = ns.clone();
    java.util.Arrays.sort(sorted);
    return sorted[sorted.length / 2] / 1e3;
  }
}
