package io.kvasir.gateway.events;

import io.kvasir.fleet.index.ForwardingIndex;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.model.RankId;
import java.util.HashSet;
import java.util.Set;

/**
 * An index whose ranks can be kept from matching for reasons other than gaps in their event
 * streams. A rank matches if its stream is complete, its events go on, and it is not muted.
 * Thread-safe.
 */
final class MutedRanks extends ForwardingIndex {

  private final PrefixIndex index;

  // Guarded by this.
  private final Set<RankId> muted = new HashSet<>();
  private final Set<RankId> stopped = new HashSet<>();
  private final Set<RankId> incomplete = new HashSet<>();

  /** Wraps an index, which its owner closes. */
  MutedRanks(PrefixIndex index) {
    super(index);
    this.index = index;
  }

  /** Keeps a rank from matching, or no longer. */
  synchronized void mute(RankId rank, boolean now) {
    change(muted, rank, now);
  }

  /** A rank's events have stopped, or go on. */
  synchronized void stop(RankId rank, boolean now) {
    change(stopped, rank, now);
  }

  private void change(Set<RankId> reason, RankId rank, boolean now) {
    if (now ? reason.add(rank) : reason.remove(rank)) {
      index.setVisible(rank, !isKept(rank) && !incomplete.contains(rank));
    }
  }

  private boolean isKept(RankId rank) {
    return muted.contains(rank) || stopped.contains(rank);
  }

  @Override
  public synchronized void setVisible(RankId rank, boolean visible) {
    if (visible) {
      incomplete.remove(rank);
    } else {
      incomplete.add(rank);
    }
    index.setVisible(rank, visible && !isKept(rank));
  }

  @Override
  public synchronized void removeRank(RankId rank) {
    incomplete.remove(rank);
    index.removeRank(rank);
    if (isKept(rank)) {
      index.setVisible(rank, false);
    }
  }

  /** Nothing: the owner of the index closes it. */
  @Override
  public void close() {}
}
