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
 * Matches a batch against the pools of other processes, as of the events read so far, in one native
 * call for all ranks.
 *
 * <p>A rank whose owner is dead or has closed its pool matches nothing and is listed in {@link
 * #skippedRanks}. A rank that missed events matches nothing until its reader has loaded a snapshot.
 *
 * <p>Confined to the thread of the readers.
 */
public final class SharedPrefixMatcher implements PrefixMatcher {

  private final List<SharedPoolReader> readers;
  private final DirectoryProbe probe;
  private final BitSet retired = new BitSet();
  private final BitSet notInSync = new BitSet();
  private final List<RankId> skipped = new ArrayList<>();

  /**
   * Makes a matcher; it does not own the readers.
   *
   * @param readers one reader per rank, in rank order, all with the same tokens per block
   * @throws IllegalArgumentException if there is none, or their tokens per block differ
   */
  public SharedPrefixMatcher(List<SharedPoolReader> readers) {
    this.readers = List.copyOf(readers);
    this.probe =
        DirectoryProbe.of(this.readers, SharedPoolReader::shape, SharedPoolReader::directory);
  }

  /**
   * {@inheritDoc}
   *
   * <p>Polls every reader first: O(new events).
   */
  @Override
  public PrefixMatches match(ProbeBatch batch) {
    skipped.clear();
    for (int rank = 0; rank < readers.size(); rank++) {
      SharedPoolReader reader = readers.get(rank);
      boolean usable = !retired.get(rank) && reader.owner() == SharedPoolReader.Owner.ALIVE;
      if (!usable) {
        skipped.add(reader.rank());
      }
      notInSync.set(rank, !usable || !reader.poll());
    }
    return probe.match(batch, notInSync);
  }

  @Override
  public void retire(int rank) {
    retired.set(Objects.checkIndex(rank, readers.size()));
  }

  /**
   * Ranks that the last {@link #match} skipped: retired ranks, and ranks whose owner was dead or
   * had closed its pool. A rank whose owner was only paused is matched again when the owner's
   * heartbeat resumes, unless the rank has been retired.
   *
   * @return a copy, in rank order
   */
  public List<RankId> skippedRanks() {
    return List.copyOf(skipped);
  }

  @Override
  public void close() {}
}
