package io.kvasir.fleet.router;

import io.kvasir.model.RankId;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import it.unimi.dsi.fastutil.longs.LongSet;
import it.unimi.dsi.fastutil.longs.LongSets;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which ranks may serve a request. Immutable.
 *
 * @param allowedWorkers workers that may; null if all may
 * @param excludedRanks ranks that may not, for example because an attempt there failed; {@link
 *     RankId#anyOf} excludes a whole worker
 * @param pinnedWorker the one worker that shall; null if any
 * @param pinnedRank the one rank of that worker that shall; null if any of its ranks
 */
public record RankFilter(
    @Nullable LongSet allowedWorkers,
    Set<RankId> excludedRanks,
    @Nullable Long pinnedWorker,
    @Nullable Integer pinnedRank) {

  /** Any rank may. */
  public static final RankFilter ANY = new RankFilter(null, Set.of(), null, null);

  /**
   * Copies the sets and checks the pin.
   *
   * @throws IllegalArgumentException if {@code pinnedRank} is negative or lacks its worker
   */
  public RankFilter {
    allowedWorkers =
        allowedWorkers == null ? null : LongSets.unmodifiable(new LongOpenHashSet(allowedWorkers));
    excludedRanks = Set.copyOf(excludedRanks);
    if (pinnedRank != null && (pinnedWorker == null || pinnedRank < 0)) {
      throw new IllegalArgumentException(
          "pinnedRank must be at least 0 and come with pinnedWorker, not "
              + pinnedRank
              + " of worker "
              + pinnedWorker);
    }
  }

  /**
   * Only some workers may.
   *
   * @param workers which
   * @return the filter
   */
  public static RankFilter allow(long... workers) {
    return new RankFilter(new LongOpenHashSet(workers), Set.of(), null, null);
  }

  /**
   * All but some ranks may.
   *
   * @param ranks those that may not
   * @return the filter
   */
  public static RankFilter exclude(Set<RankId> ranks) {
    return new RankFilter(null, ranks, null, null);
  }

  /**
   * One rank shall.
   *
   * @param rank which
   * @return the filter
   */
  public static RankFilter pin(RankId rank) {
    return new RankFilter(null, Set.of(), rank.workerId(), rank.dpRank());
  }

  /**
   * Some rank of one worker shall.
   *
   * @param worker which
   * @return the filter
   */
  public static RankFilter pinWorker(long worker) {
    return new RankFilter(null, Set.of(), worker, null);
  }

  /**
   * {@return whether every rank may serve; true if nothing is excluded, allowed or pinned by name}
   */
  public boolean isAny() {
    return allowedWorkers == null && excludedRanks.isEmpty() && pinnedWorker == null;
  }

  /**
   * {@return whether the request demands a worker or a rank; true if {@link #pinnedWorker} is set}
   */
  public boolean isPinned() {
    return pinnedWorker != null;
  }

  /**
   * Whether a rank is the demanded one, or nothing is demanded.
   *
   * @param rank the rank
   * @return true if the pin does not rule the rank out
   */
  public boolean pins(RankId rank) {
    return pinnedWorker == null
        || (pinnedWorker == rank.workerId() && (pinnedRank == null || pinnedRank == rank.dpRank()));
  }

  /**
   * Whether a rank may serve. O(1).
   *
   * @param rank the rank
   * @return true if the pin, the allowed workers and the exclusions admit it
   */
  public boolean allows(RankId rank) {
    return pins(rank)
        && (allowedWorkers == null || allowedWorkers.contains(rank.workerId()))
        && !excludedRanks.contains(rank)
        && !excludedRanks.contains(RankId.anyOf(rank.workerId()));
  }
}
