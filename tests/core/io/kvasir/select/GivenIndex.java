package io.kvasir.select;

import io.kvasir.event.CacheChange;
import io.kvasir.index.ChangeStatus;
import io.kvasir.index.IndexStats;
import io.kvasir.index.PrefixIndex;
import io.kvasir.index.RankMatches;
import io.kvasir.model.RankId;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** An index in which a rank holds so many leading blocks of every prompt, as the test says. */
final class GivenIndex implements PrefixIndex {

  private final Map<RankId, Integer> held = new ConcurrentHashMap<>();
  private final AtomicInteger matches = new AtomicInteger();

  void hold(RankId rank, int blocks) {
    held.put(rank, blocks);
  }

  /** Calls of {@link #match} so far. */
  int matches() {
    return matches.get();
  }

  @Override
  public void match(long[] sequenceHashes, int blocks, RankMatches found) {
    matches.incrementAndGet();
    held.forEach(
        (rank, most) -> {
          if (Math.min(most, blocks) > 0) {
            found.add(rank, Math.min(most, blocks));
          }
        });
  }

  @Override
  public ChangeStatus apply(RankId rank, CacheChange change) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void removeRank(RankId rank) {
    held.remove(rank);
  }

  @Override
  public void setVisible(RankId rank, boolean visible) {
    throw new UnsupportedOperationException();
  }

  @Override
  public IndexStats stats() {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {}
}
