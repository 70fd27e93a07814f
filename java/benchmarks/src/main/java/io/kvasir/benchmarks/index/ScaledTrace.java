package io.kvasir.benchmarks.index;

import io.kvasir.simulator.trace.Trace;

/**
 * A trace that is lengthened and duplicated: each id becomes several consecutive ids, and each copy
 * has distinct ids at the same times. Immutable.
 */
final class ScaledTrace {

  private final Trace trace;
  private final int lengthFactor;
  private final int copies;
  private final int idsPerCopy;

  /**
   * Scales a trace.
   *
   * @throws IllegalArgumentException if an id is negative or there would be 2^31 ids or more
   */
  ScaledTrace(Trace trace, int lengthFactor, int copies) {
    this.trace = trace;
    this.lengthFactor = lengthFactor;
    this.copies = copies;
    long most = -1;
    for (int row = 0; row < trace.rows(); row++) {
      for (int i = 0; i < trace.idCount(row); i++) {
        long id = trace.id(row, i);
        if (id < 0 || id > Integer.MAX_VALUE) {
          throw new IllegalArgumentException("hash_ids must be 0 to 2147483647, not " + id);
        }
        most = Math.max(most, id);
      }
    }
    long ids = (most + 1) * lengthFactor;
    if (ids * copies > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "duplicate and lengthFactor make "
              + ids * copies
              + " ids of "
              + (most + 1)
              + "; at most 2147483647 are allowed");
    }
    this.idsPerCopy = (int) ids;
  }

  int rows() {
    return trace.rows();
  }

  int copies() {
    return copies;
  }

  long arrivalNs(int row) {
    return trace.arrivalNs(row);
  }

  /** One more than the largest id. */
  int ids() {
    return idsPerCopy * copies;
  }

  /** Number of ids of the longest row. */
  int longest() {
    int longest = 0;
    for (int row = 0; row < trace.rows(); row++) {
      longest = Math.max(longest, trace.idCount(row));
    }
    return longest * lengthFactor;
  }

  /** The ids of a row in one of the copies. */
  int[] ids(int row, int copy) {
    int[] ids = new int[trace.idCount(row) * lengthFactor];
    for (int i = 0; i < ids.length; i++) {
      ids[i] =
          (int) trace.id(row, i / lengthFactor) * lengthFactor
              + i % lengthFactor
              + copy * idsPerCopy;
    }
    return ids;
  }
}
