package io.kvasir.benchmarks;

/** Prints measured figures, one per line, in the format that tests/gpu/run reads. */
final class Figures {

  private Figures() {}

  static void print(String name, double value, String unit) {
    print(name, value, unit, "");
  }

  /** Prints a figure with its lower bound, in the same unit. */
  static void print(String name, double value, String unit, double floor) {
    print(name, value, unit, "%.4g".formatted(floor));
  }

  static void print(String name, double value, String unit, String floor) {
    System.out.println("figure %s %.4g %s %s".formatted(name, value, unit, floor).stripTrailing());
  }

  /** The median of measured times, in microseconds. */
  static double medianUs(long[] ns) {
    long[] sorted = ns.clone();
    java.util.Arrays.sort(sorted);
    return sorted[sorted.length / 2] / 1e3;
  }
}
