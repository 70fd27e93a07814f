package io.kvasir.gateway.verify;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.index.ChangeStatus;
import io.kvasir.fleet.index.ForwardingIndex;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.model.RankId;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * An index behind event streams that notes the ranks whose blocks it has completely. It lacks some
 * if the rank is cleared while it is hidden, as a stream does whose events are lost, including
 * those before its first one; if the parent of a stored block is unknown; or if there is no room
 * for it. A rank that is removed starts over. Thread-safe.
 */
public final class EventHistories extends ForwardingIndex {

  private final Set<RankId> hidden = ConcurrentHashMap.newKeySet();
  private final Set<RankId> incomplete = ConcurrentHashMap.newKeySet();

  /**
   * Begins without ranks.
   *
   * @param index the index, which its owner closes
   */
  public EventHistories(PrefixIndex index) {
    super(index);
  }

  /**
   * {@return whether the index has all blocks of a rank, as far as its events show}
   *
   * @param rank the rank
   */
  public boolean isComplete(RankId rank) {
    return !incomplete.contains(rank);
  }

  @Override
  public ChangeStatus apply(RankId rank, BlockEvent event) {
    ChangeStatus status = super.apply(rank, event);
    boolean lost = event instanceof BlockEvent.Cleared && hidden.contains(rank);
    if (lost || status == ChangeStatus.UNKNOWN_PARENT || status == ChangeStatus.FULL) {
      incomplete.add(rank);
    }
    return status;
  }

  @Override
  public void removeRank(RankId rank) {
    super.removeRank(rank);
    hidden.remove(rank);
    incomplete.remove(rank);
  }

  @Override
  public void setVisible(RankId rank, boolean visible) {
    super.setVisible(rank, visible);
    if (visible) {
      hidden.remove(rank);
    } else {
      hidden.add(rank);
    }
  }

  /** Nothing: the owner of the index closes it. */
  @Override
  public void close() {}
}
