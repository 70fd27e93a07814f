package io.kvasir.gateway;

/**
 * Shares the memory for prefix indexes among models, whose number is not known beforehand: an index
 * gets half of what is left, so that all together never exceed the whole. Thread-safe.
 */
final class IndexMemory {

  /** What an index gets at least, so that a model has one also when little is left. */
  static final long MIN_BYTES = 64 << 20;

  private long leftBytes;

  /** Begins with nothing in use. */
  IndexMemory(long totalBytes) {
    leftBytes = totalBytes;
  }

  /**
   * Takes the share of a model.
   *
   * @param indexes indexes of the model, at least 1
   * @return the bytes of each of them
   */
  synchronized long take(int indexes) {
    long each = Math.max(MIN_BYTES, leftBytes / 2 / indexes);
    leftBytes = Math.max(0, leftBytes - indexes * each);
    return each;
  }
}
