package io.kvasir.gateway.verify;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.index.ChangeStatus;
import io.kvasir.fleet.index.IndexStats;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.index.RankMatches;
import io.kvasir.hash.BlockHashes;
import io.kvasir.model.RankId;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * An index behind event streams that notes of which ranks it knows all blocks. It does not know
 * them if the rank is cleared while it is hidden, which is what a stream does whose events are
 * gone, those before its first one among them; or if the parent of a stored block is unknown, or
 * there is no room for it. A rank that is removed begins anew. Thread-safe.
 */
public final class EventHistories implements PrefixIndex {

  private final PrefixIndex index;
  private final Set<RankId> hidden = ConcurrentHashMap.newKeySet();
  private final Set<RankId> incomplete = ConcurrentHashMap.newKeySet();

  /**
   * Begins without ranks.
   *
   * @param index the index, which its owner closes
   */
  public EventHistories(PrefixIndex index) {
    this.index = index;
  }

  /**
   * {@return whether the index knows all blocks of a rank, as far as its events show}
   *
   * @param rank the rank
   */
  public boolean isComplete(RankId rank) {
    return !incomplete.contains(rank);
  }

  @Override
  public ChangeStatus apply(RankId rank, BlockEvent event) {
    ChangeStatus status = index.apply(rank, event);
    boolean lost = event instanceof BlockEvent.Cleared && hidden.contains(rank);
    if (lost || status == ChangeStatus.UNKNOWN_PARENT || status == ChangeStatus.FULL) {
      incomplete.add(rank);
    }
    return status;
  }

  @Override
  public void removeRank(RankId rank) {
    index.removeRank(rank);
    hidden.remove(rank);
    incomplete.remove(rank);
  }

  @Override
  public void setVisible(RankId rank, boolean visible) {
    index.setVisible(rank, visible);
    if (visible) {
      hidden.remove(rank);
    } else {
      hidden.add(rank);
    }
  }

  @Override
  public void match(long[] sequenceHashes, int blocks, RankMatches matches) {
    index.match(sequenceHashes, blocks, matches);
  }

  @Override
  public void match(
      long[] sequenceHashes, int blocks, Predicate<RankId> candidates, RankMatches matches) {
    index.match(sequenceHashes, blocks, candidates, matches);
  }

  @Override
  public void matchAll(long[] sequenceHashes, int blocks, RankMatches matches) {
    index.matchAll(sequenceHashes, blocks, matches);
  }

  @Override
  public void onPlaced(RankId rank, BlockHashes prompt) {
    index.onPlaced(rank, prompt);
  }

  @Override
  public @Nullable Long sequenceHash(RankId rank, long handle) {
    return index.sequenceHash(rank, handle);
  }

  @Override
  public long handles(RankId rank) {
    return index.handles(rank);
  }

  @Override
  public PrefixIndex confirmed() {
    return index.confirmed();
  }

  @Override
  public IndexStats stats() {
    return index.stats();
  }

  @Override
  public void close() {}
}
