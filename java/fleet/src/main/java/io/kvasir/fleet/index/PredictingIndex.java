package io.kvasir.fleet.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.hash.BlockHashes;
import io.kvasir.model.RankId;
import it.unimi.dsi.fastutil.objects.Object2IntMap;
import it.unimi.dsi.fastutil.objects.Object2IntOpenHashMap;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/**
 * A prefix index that adds short-lived predictions: blocks of a placed prompt match at once, before
 * the engine reports them. Requests with the same prefix that arrive in between match them too. A
 * rank matches the longer of its confirmed and its predicted blocks.
 *
 * <p>The predictions of a rank are removed when the rank is cleared, hidden or removed, so hidden
 * ranks have none. Counts and memory are those of the confirmed index. Thread-safe.
 */
public final class PredictingIndex extends ForwardingIndex {

  private final PrefixIndex confirmed;
  private final ApproximateIndex predicted;
  private final Set<RankId> hidden = ConcurrentHashMap.newKeySet();
  private final ThreadLocal<Scratch> scratch = ThreadLocal.withInitial(Scratch::new);

  /** Per-thread buffers of a look-up. */
  private static final class Scratch {
    final RankMatches predicted = new RankMatches();
    final RankMatches known = new RankMatches();
    final Object2IntOpenHashMap<RankId> longer = new Object2IntOpenHashMap<>();
  }

  /**
   * Combines an index with predictions.
   *
   * @param confirmed is updated by events; closed with this one
   * @param predicted is updated by placements; closed with this one
   */
  public PredictingIndex(PrefixIndex confirmed, ApproximateIndex predicted) {
    super(confirmed);
    this.confirmed = confirmed;
    this.predicted = predicted;
  }

  /** Ignores placements on hidden ranks. */
  @Override
  public void onPlaced(RankId rank, BlockHashes prompt) {
    if (!hidden.contains(rank)) {
      predicted.place(rank, prompt);
      if (hidden.contains(rank)) {
        predicted.removeRank(rank);
      }
    }
  }

  @Override
  public ChangeStatus apply(RankId rank, BlockEvent event) {
    ChangeStatus status = confirmed.apply(rank, event);
    if (event instanceof BlockEvent.Cleared) {
      predicted.removeRank(rank);
    }
    return status;
  }

  @Override
  public void removeRank(RankId rank) {
    confirmed.removeRank(rank);
    hidden.remove(rank);
    predicted.removeRank(rank);
  }

  @Override
  public void setVisible(RankId rank, boolean visible) {
    confirmed.setVisible(rank, visible);
    if (visible) {
      hidden.remove(rank);
    } else {
      hidden.add(rank);
      predicted.removeRank(rank);
    }
  }

  @Override
  public void match(long[] sequenceHashes, int blocks, RankMatches matches) {
    confirmed.match(sequenceHashes, blocks, matches);
    Scratch own = scratch.get();
    predicted.match(sequenceHashes, blocks, own.predicted);
    if (own.predicted.size() == 0) {
      return;
    }
    if (matches.size() == 0) {
      matches.addPredicted(own.predicted);
      return;
    }
    own.longer.clear();
    for (int i = 0; i < own.predicted.size(); i++) {
      own.longer.put(own.predicted.rank(i), own.predicted.blocks(i));
    }
    own.known.clear();
    own.known.copy(matches);
    matches.clear();
    for (int i = 0; i < own.known.size(); i++) {
      RankId rank = own.known.rank(i);
      int predictedBlocks = own.longer.removeInt(rank);
      int blocksKnown = own.known.blocks(i);
      matches.add(rank, Math.max(blocksKnown, predictedBlocks), predictedBlocks > blocksKnown);
    }
    for (Object2IntMap.Entry<RankId> rank : own.longer.object2IntEntrySet()) {
      matches.add(rank.getKey(), rank.getIntValue(), true);
    }
  }

  @Override
  public void match(
      long[] sequenceHashes, int blocks, Predicate<RankId> candidates, RankMatches matches) {
    match(sequenceHashes, blocks, matches);
    matches.retain(candidates);
  }

  @Override
  public PrefixIndex confirmed() {
    return confirmed;
  }

  @Override
  public void close() {
    super.close();
    predicted.close();
  }
}
