package io.kvasir.model;

/**
 * Identity of one attention data-parallel rank of one engine process group.
 *
 * <p>Immutable. Ordered by worker (as an unsigned number), then by rank.
 *
 * @param workerId the worker (instance) that the rank belongs to, an unsigned 64-bit number
 * @param dpRank the rank inside the worker, from 0
 */
public record RankId(long workerId, int dpRank) implements Comparable<RankId> {

  /**
   * Checks the rank's range.
   *
   * @throws IllegalArgumentException if {@code dpRank} is negative
   */
  public RankId {
    if (dpRank < 0) {
      throw new IllegalArgumentException("dpRank must be at least 0, not " + dpRank);
    }
  }

  @Override
  public int compareTo(RankId other) {
    int byWorker = Long.compareUnsigned(workerId, other.workerId);
    return byWorker != 0 ? byWorker : Integer.compare(dpRank, other.dpRank);
  }

  @Override
  public String toString() {
    return Long.toUnsignedString(workerId) + "/" + dpRank;
  }
}
