package io.kvasir.engine.pool.shared;

import io.kvasir.engine.pool.DirectoryProbe;
import io.kvasir.engine.pool.PrefixMatcher;
import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.engine.pool.ProbeBatch;
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
 * #lostRanks}; a rank whose events were lost matches nothing until it has caught up.
 *
 * <p>Confined to one thread, the readers' own.
 */
public final class SharedPrefixMatcher implements PrefixMatcher {

  private final List<SharedPoolReader> readers;
  private final DirectoryProbe probe;
  private final BitSet retired = new BitSet();
  private final List<RankId> lost = new ArrayList<>();

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
    lost.clear();
    for (int rank = 0; rank < readers.size(); rank++) {
      SharedPoolReader reader = readers.get(rank);
      boolean alive = !retired.get(rank) && reader.owner() == SharedPoolReader.Owner.ALIVE;
      if (!alive) {
        lost.add(reader.rank());
      }
      boolean known = alive && reader.poll();
      probe.directory(rank, known ? reader.directoryAddress() : DirectoryProbe.NOTHING);
    }
    return probe.match(batch);
  }

  @Override
  public void retire(int rank) {
    retired.set(Objects.checkIndex(rank, readers.size()));
  }

  /**
   * Ranks that the last {@link #match} left out: retired ones, and those whose owner was dead or
   * had closed its pool. An owner that had only stopped for a while is back at the next match,
   * unless its rank was retired meanwhile.
   *
   * @return a copy, in rank order
   */
  public List<RankId> lostRanks() {
    return List.copyOf(lost);
  }

  @Override
  public void close() {}
}
