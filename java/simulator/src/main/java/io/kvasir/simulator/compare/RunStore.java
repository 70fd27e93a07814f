package io.kvasir.simulator.compare;

import java.util.List;
import java.util.function.Supplier;

/** Keeps the numbers of finished replays, so that a comparison can go on later. Thread-safe. */
@FunctionalInterface
public interface RunStore {

  /** Keeps nothing. */
  RunStore NONE = (name, play) -> play.get();

  /**
   * The numbers of a replay: the kept ones, or else those that it produces, which are kept.
   *
   * @param name what is replayed: equal names have equal results
   * @param play replays and returns the numbers
   * @return the numbers
   * @throws java.io.UncheckedIOException if they cannot be kept
   */
  List<Double> of(String name, Supplier<List<Double>> play);
}
