package io.kvasir.benchmarks.proxy;

import java.util.List;
import java.util.function.ToLongFunction;

/**
 * The gateway's memory after each tenth of many requests, all of which got the right answer.
 * Immutable.
 *
 * @param tenths memory after each tenth
 */
public record GrowthFigures(List<Tenth> tenths) {

  private static final double FLAT_HEAP = 1.05;
  private static final double FLAT_RESIDENT = 1.15; // a collector may yet use more of its heap
  private static final long HEAP_SLACK_BYTES = 1 << 20; // of classes that were loaded late

  /**
   * Memory after a tenth of the requests.
   *
   * @param requests all requests so far
   * @param heapBytes live objects
   * @param residentBytes memory of the process in RAM
   */
  public record Tenth(long requests, long heapBytes, long residentBytes) {}

  /** Copies the list. */
  public GrowthFigures {
    tenths = List.copyOf(tenths);
  }

  /** {@return the heap after the last tenth relative to that after the first} */
  public double heapGrowth() {
    return growth(Tenth::heapBytes);
  }

  /** {@return the resident memory after the last tenth relative to that after the first} */
  public double residentGrowth() {
    return growth(Tenth::residentBytes);
  }

  private double growth(ToLongFunction<Tenth> of) {
    return (double) of.applyAsLong(tenths.get(tenths.size() - 1)) / of.applyAsLong(tenths.get(0));
  }

  /** {@return whether memory stayed as it was after the first tenth} */
  public boolean isFlat() {
    long first = tenths.get(0).heapBytes();
    long last = tenths.get(tenths.size() - 1).heapBytes();
    return last <= FLAT_HEAP * first + HEAP_SLACK_BYTES && residentGrowth() <= FLAT_RESIDENT;
  }
}
