package io.kvasir.benchmarks.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.index.ChangeStatus;
import io.kvasir.fleet.index.IndexStats;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.index.RankMatches;
import io.kvasir.model.RankId;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** An index with a list of handles and blocks per rank, and linear searches. */
final class ListedIndex implements PrefixIndex {

  private final Map<RankId, Map<Long, Long>> ranks = new TreeMap<>();
  private final Set<RankId> hidden = new HashSet<>();

  @Override
  public ChangeStatus apply(RankId id, BlockEvent change) {
    Map<Long, Long> blocks = new TreeMap<>(ranks.getOrDefault(id, Map.of()));
    ChangeStatus status = changed(blocks, change);
    if (ranks.containsKey(id) || status == ChangeStatus.APPLIED) {
      ranks.put(id, blocks);
    }
    return status;
  }

  private static ChangeStatus changed(Map<Long, Long> blocks, BlockEvent change) {
    Map<Long, Long> before = new TreeMap<>(blocks);
    if (change instanceof BlockEvent.Stored stored) {
      Set<Long> named = new HashSet<>();
      if (!stored.root()) {
        named.add(stored.parentHandle());
      }
      for (long handle : stored.handles()) {
        if (!named.add(handle)) {
          return ChangeStatus.INVALID_SEQUENCE;
        }
      }
      if (!stored.root() && !blocks.containsKey(stored.parentHandle())) {
        return ChangeStatus.UNKNOWN_PARENT;
      }
      long root = stored.rootHash() == 0 ? SequenceChain.ROOT : stored.rootHash();
      long parent = stored.root() ? root : blocks.get(stored.parentHandle());
      for (int i = 0; i < stored.handles().length; i++) {
        parent =
            stored.sequenceHashes() != null
                ? stored.sequenceHashes()[i]
                : SequenceChain.mix(parent, stored.localHashes()[i]);
        blocks.put(stored.handles()[i], parent);
      }
    } else if (change instanceof BlockEvent.Removed removed) {
      boolean all = true;
      for (long handle : removed.handles()) {
        all &= blocks.remove(handle) != null;
      }
      if (!all) {
        return ChangeStatus.UNKNOWN_BLOCK;
      }
    } else {
      blocks.clear();
    }
    return blocks.equals(before) ? ChangeStatus.UNCHANGED : ChangeStatus.APPLIED;
  }

  @Override
  public void removeRank(RankId rank) {
    ranks.remove(rank);
    hidden.remove(rank);
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
  public void match(long[] sequenceHashes, int blocks, RankMatches matches) {
    matches.clear();
    ranks.forEach(
        (id, named) -> {
          Set<Long> held = new HashSet<>(named.values());
          int matched = 0;
          while (matched < blocks && held.contains(sequenceHashes[matched])) {
            matched++;
          }
          if (matched > 0 && !hidden.contains(id)) {
            matches.add(id, matched);
          }
        });
  }

  @Override
  public IndexStats stats() {
    Set<Long> workers = new HashSet<>();
    Set<Long> blocks = new HashSet<>();
    long memberships = 0;
    for (Map.Entry<RankId, Map<Long, Long>> rank : ranks.entrySet()) {
      workers.add(rank.getKey().workerId());
      blocks.addAll(rank.getValue().values());
      memberships += rank.getValue().size();
    }
    return new IndexStats(workers.size(), ranks.size(), memberships, blocks.size(), 0, 0);
  }

  @Override
  public void close() {}
}
