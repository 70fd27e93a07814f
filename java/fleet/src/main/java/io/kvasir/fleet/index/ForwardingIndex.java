package io.kvasir.fleet.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.hash.BlockHashes;
import io.kvasir.model.RankId;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * An index that passes every call on to another one. Subclasses change some of them. Thread-safe if
 * the other index is.
 */
public abstract class ForwardingIndex implements PrefixIndex {

  private final PrefixIndex index;

  /**
   * Wraps an index.
   *
   * @param index receives the calls
   */
  protected ForwardingIndex(PrefixIndex index) {
    this.index = index;
  }

  @Override
  public ChangeStatus apply(RankId rank, BlockEvent event) {
    return index.apply(rank, event);
  }

  @Override
  public void removeRank(RankId rank) {
    index.removeRank(rank);
  }

  @Override
  public void setVisible(RankId rank, boolean visible) {
    index.setVisible(rank, visible);
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
  public int known(RankId rank, int group, long[] handles, long[] found) {
    return index.known(rank, group, handles, found);
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
  public void close() {
    index.close();
  }
}
