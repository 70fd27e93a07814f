package io.kvasir.fleet.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.hash.BlockHashes;
import io.kvasir.model.RankId;
import it.unimi.dsi.fastutil.objects.Object2IntMap;
import it.unimi.dsi.fastutil.objects.Object2IntOpenHashMap;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A prefix index that also believes, for a short time, that a rank holds what was placed on it:
 * siblings of a request that come before the engine has told its blocks find them already. A rank
 * matches the longer of what it told and what is believed of it.
 *
 * <p>What is believed of a rank goes when the rank is cleared, hidden or removed. Thread-safe.
 */
public final class PredictingIndex implements PrefixIndex {

  private final PrefixIndex told;
  private final ApproximateIndex believed;
  private final Set<RankId> hidden = ConcurrentHashMap.newKeySet();
  private final ThreadLocal<Scratch> scratch = ThreadLocal.withInitial(Scratch::new);

  /** What a look-up needs on its way. */
  private static final class Scratch {
    final RankMatches believed = new RankMatches();
    final Object2IntOpenHashMap<RankId> longest = new Object2IntOpenHashMap<>();
  }

  /**
   * Puts predictions beside an index.
   *
   * @param told learns from events; closed with this one
   * @param believed learns from placements; closed with this one
   */
  public PredictingIndex(PrefixIndex told, ApproximateIndex believed) {
    this.told = told;
    this.believed = believed;
  }

  /** Ignores placements on hidden ranks. */
  @Override
  public void onPlaced(RankId rank, BlockHashes prompt) {
    if (!hidden.contains(rank)) {
      believed.place(rank, prompt);
      if (hidden.contains(rank)) {
        believed.removeRank(rank);
      }
    }
  }

  @Override
  public ChangeStatus apply(RankId rank, BlockEvent event) {
    ChangeStatus status = told.apply(rank, event);
    if (event instanceof BlockEvent.Cleared) {
      believed.removeRank(rank);
    }
    return status;
  }

  @Override
  public void removeRank(RankId rank) {
    told.removeRank(rank);
    hidden.remove(rank);
    believed.removeRank(rank);
  }

  @Override
  public void setVisible(RankId rank, boolean visible) {
    told.setVisible(rank, visible);
    if (visible) {
      hidden.remove(rank);
    } else {
      hidden.add(rank);
      believed.removeRank(rank);
    }
  }

  @Override
  public void match(long[] sequenceHashes, int blocks, RankMatches matches) {
    told.match(sequenceHashes, blocks, matches);
    Scratch own = scratch.get();
    believed.match(sequenceHashes, blocks, own.believed);
    if (own.believed.size() == 0) {
      return;
    }
    own.longest.clear();
    for (int i = 0; i < matches.size(); i++) {
      own.longest.put(matches.rank(i), matches.blocks(i));
    }
    for (int i = 0; i < own.believed.size(); i++) {
      own.longest.mergeInt(own.believed.rank(i), own.believed.blocks(i), Math::max);
    }
    matches.clear();
    for (Object2IntMap.Entry<RankId> rank : own.longest.object2IntEntrySet()) {
      matches.add(rank.getKey(), rank.getIntValue());
    }
  }

  /** Counts and memory of what was told. */
  @Override
  public IndexStats stats() {
    return told.stats();
  }

  @Override
  public void close() {
    told.close();
    believed.close();
  }
}
