package io.kvasir.model;

/**
 * Identity of one attention data-parallel rank of one engine process group.
 *
 * <p>Immutable. Ordered by worker (as an unsigned number), then by rank.
 *
 * @param workerId the worker that the rank belongs to, an unsigned 64-bit number
 * @param dpRank the rank inside the worker, from 0; {@link #ANY} for any rank of the worker
 */
public record RankId(long workerId, int dpRank) implements Comparable<RankId> {

  /** Value of {@link #dpRank()} that stands for any rank of the worker. */
  public static final int ANY = -1;

  /**
   * Checks the rank's range.
   *
   * @throws IllegalArgumentException if {@code dpRank} is below {@link #ANY}
   */
  public RankId {
    if (dpRank != ANY) {
      Checks.atLeast("dpRank", dpRank, 0);
    }
  }

  /**
   * The identity that stands for any rank of a worker.
   *
   * @param workerId the worker
   * @return an identity whose {@link #dpRank()} is {@link #ANY}
   */
  public static RankId anyOf(long workerId) {
    return new RankId(workerId, ANY);
  }

  /**
   * {@return whether this stands for any rank of its worker; true if {@link #dpRank()} is {@link
   * #ANY}}
   */
  public boolean isAny() {
    return dpRank == ANY;
  }

  @Override
  public int compareTo(RankId other) {
    int byWorker = Long.compareUnsigned(workerId, other.workerId);
    return byWorker != 0 ? byWorker : Integer.compare(dpRank, other.dpRank);
  }

  @Override
  public String toString() {
    return Long.toUnsignedString(workerId) + "/" + (isAny() ? "any" : dpRank);
  }
}
