package io.kvasir.fleet.router.booking;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.index.ChangeStatus;
import io.kvasir.fleet.index.IndexStats;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.index.RankMatches;
import io.kvasir.hash.BlockHashes;
import io.kvasir.model.RankId;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** An index with a fixed number of matched blocks per rank, set by the test. */
public final class GivenIndex implements PrefixIndex {

  private final Map<RankId, Integer> held = new ConcurrentHashMap<>();
  private final Set<RankId> hidden = ConcurrentHashMap.newKeySet();
  private final List<String> placed = new CopyOnWriteArrayList<>();
  private volatile boolean closed;
  private volatile boolean failing;
  private final AtomicInteger matches = new AtomicInteger();

  public void hold(RankId rank, int blocks) {
    held.put(rank, blocks);
  }

  /** Calls of {@link #match} so far. */
  public int matches() {
    return matches.get();
  }

  @Override
  public void match(long[] sequenceHashes, int blocks, RankMatches found) {
    matches.incrementAndGet();
    found.clear();
    held.forEach(
        (rank, most) -> {
          if (Math.min(most, blocks) > 0 && !hidden.contains(rank)) {
            found.add(rank, Math.min(most, blocks));
          }
        });
  }

  /** From now on {@link #onPlaced} throws. */
  void fail() {
    failing = true;
  }

  /** For each placement: rank, a space, and the prompt's first hash. */
  List<String> placed() {
    return placed;
  }

  @Override
  public void onPlaced(RankId rank, BlockHashes prompt) {
    if (failing) {
      throw new IllegalStateException("failing");
    }
    placed.add(rank + " " + (prompt.blocks() == 0 ? "none" : prompt.sequence()[0]));
  }

  /** Ignored: only {@link #hold} sets the matched blocks. */
  @Override
  public ChangeStatus apply(RankId rank, BlockEvent change) {
    return ChangeStatus.UNCHANGED;
  }

  @Override
  public void removeRank(RankId rank) {
    held.remove(rank);
  }

  @Override
  public void setVisible(RankId rank, boolean visible) {
    if (visible) {
      hidden.remove(rank);
    } else {
      hidden.add(rank);
    }
  }

  @Override
  public IndexStats stats() {
    long workers = held.keySet().stream().mapToLong(RankId::workerId).distinct().count();
    return new IndexStats((int) workers, held.size(), 0, 0, 0, 0);
  }

  boolean isClosed() {
    return closed;
  }

  @Override
  public void close() {
    closed = true;
  }
}
