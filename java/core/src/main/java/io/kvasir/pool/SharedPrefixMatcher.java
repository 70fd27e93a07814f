package io.kvasir.pool;

import io.kvasir.model.PrefixMatches;
import io.kvasir.model.RankId;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;

/**
 * Matches a batch against the pools of other processes, as far as their events tell, in one look-up
 * over all ranks.
 *
 * <p>A rank whose owner is dead or has closed its pool matches nothing and is told by {@link
 * #retiredRanks}; a rank whose events were lost matches nothing until it has caught up.
 *
 * <p>Confined to one thread, the readers' own.
 */
public final class SharedPrefixMatcher implements PrefixMatcher {

  private final List<SharedPoolReader> readers;
  private final DirectoryProbe probe;
  private final BitSet leftOut = new BitSet();
  private final List<RankId> retired = new ArrayList<>();

  /**
   * Makes a matcher; it does not own the readers.
   *
   * @param readers one reader per rank, in rank order, all with the same tokens per block
   * @throws IllegalArgumentException if there is none or they differ
   */
  public SharedPrefixMatcher(List<SharedPoolReader> readers) {
    this.readers = List.copyOf(readers);
    this.probe = DirectoryProbe.of(this.readers, SharedPoolReader::shape);
  }

  /**
   * {@inheritDoc}
   *
   * <p>Polls every reader first: O(new events).
   */
  @Override
  public PrefixMatches match(ProbeBatch batch) {
    retired.clear();
    for (int rank = 0; rank < readers.size(); rank++) {
      SharedPoolReader reader = readers.get(rank);
      if (leftOut.get(rank)) {
        probe.directory(rank, DirectoryProbe.NOTHING);
        continue;
      }
      boolean alive = reader.owner() == SharedPoolReader.Owner.ALIVE;
      if (!alive) {
        retired.add(reader.rank());
      }
      boolean known = alive && reader.poll();
      probe.directory(rank, known ? reader.directoryAddress() : DirectoryProbe.NOTHING);
    }
    return probe.match(batch);
  }

  @Override
  public void retire(int rank) {
    leftOut.set(Objects.checkIndex(rank, readers.size()));
  }

  /**
   * Ranks whose owner was dead or had closed its pool at the last {@link #match}.
   *
   * @return a copy, in rank order
   */
  public List<RankId> retiredRanks() {
    return List.copyOf(retired);
  }

  @Override
  public void close() {}
}
