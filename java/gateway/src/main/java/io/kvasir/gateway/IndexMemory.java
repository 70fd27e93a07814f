package io.kvasir.gateway;

import java.util.HashMap;
import java.util.Map;

/**
 * Shares the memory for prefix indexes among models, whose number is not known beforehand: an index
 * gets half of what is left, so that all together never exceed the whole. A model whose indexes
 * begin again gets the same share. Thread-safe.
 */
final class IndexMemory {

  /** The least memory of an index, so that a model has one also when little is left. */
  static final long MIN_BYTES = 64 << 20;

  private final Map<Share, Long> taken = new HashMap<>();
  private long leftBytes;

  private record Share(String model, int indexes) {}

  /** Begins with nothing in use. */
  IndexMemory(long totalBytes) {
    leftBytes = totalBytes;
  }

  /**
   * Takes the share of a model, or finds it.
   *
   * @param model the model
   * @param indexes indexes of the model, at least 1
   * @return the bytes of each of them
   */
  synchronized long take(String model, int indexes) {
    return taken.computeIfAbsent(
        new Share(model, indexes),
        share -> {
          long each = Math.max(MIN_BYTES, leftBytes / 2 / indexes);
          leftBytes = Math.max(0, leftBytes - indexes * each);
          return each;
        });
  }
}
