package io.kvasir.fleet.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.model.RankId;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/**
 * The ranks of an index whose models have several cache groups. A match of such a rank is as long
 * as all groups allow. Costs nothing for other ranks. Thread-safe if changes of one rank come from
 * one thread at a time.
 */
final class CacheGroups {

  private final Map<RankId, RankGroups> ranks = new ConcurrentHashMap<>();
  private final Set<RankId> hidden = ConcurrentHashMap.newKeySet();

  /** Handles of all ranks together; see {@link RankGroups#MAX_HANDLES}. */
  private final AtomicLong handles = new AtomicLong();

  /** {@return an empty rank} */
  RankGroups newRank() {
    return new RankGroups(handles);
  }

  /** The index is about to take blocks of the main group: from now on it alone finds the rank. */
  void beforeStored(RankId rank) {
    RankGroups groups = ranks.get(rank);
    if (groups != null) {
      groups.hasMain();
    }
  }

  /** The index has taken blocks of the main group. */
  void onStored(RankId rank, BlockEvent.Stored stored, ChangeStatus status) {
    RankGroups groups = ranks.get(rank);
    if (groups != null && (status == ChangeStatus.APPLIED || status == ChangeStatus.UNCHANGED)) {
      groups.onStored(stored);
    }
  }

  /** The first event of a group begins with what {@code load} makes of the main one. */
  ChangeStatus onStored(
      RankId rank, BlockEvent.GroupStored stored, Function<RankId, RankGroups> load) {
    return ranks.computeIfAbsent(rank, load).onStored(stored)
        ? ChangeStatus.APPLIED
        : ChangeStatus.UNCHANGED;
  }

  ChangeStatus onRemoved(RankId rank, BlockEvent.GroupRemoved removed) {
    RankGroups groups = ranks.get(rank);
    int dropped = groups == null ? 0 : groups.onRemoved(removed);
    return dropped < removed.handles().length
        ? ChangeStatus.UNKNOWN_BLOCK
        : dropped == 0 ? ChangeStatus.UNCHANGED : ChangeStatus.APPLIED;
  }

  /** The main group changes otherwise than by a store. */
  void onChanged(RankId rank, BlockEvent event) {
    RankGroups groups = ranks.get(rank);
    if (groups == null) {
      return;
    }
    if (event instanceof BlockEvent.Removed removed) {
      groups.onRemoved(removed.handles());
    } else if (event instanceof BlockEvent.Aliased aliased) {
      groups.onAliased(aliased);
    } else if (event instanceof BlockEvent.Cleared) {
      groups.clear();
    }
  }

  int known(RankId rank, int group, long[] handles, long[] found) {
    RankGroups groups = ranks.get(rank);
    return groups == null ? 0 : groups.known(group, handles, found);
  }

  /** Handles of a rank that has no main group. */
  long handles(RankId rank) {
    RankGroups groups = ranks.get(rank);
    return groups == null ? 0 : groups.handles();
  }

  void remove(RankId rank) {
    RankGroups groups = ranks.remove(rank);
    if (groups != null) {
      groups.clear();
    }
    hidden.remove(rank);
  }

  void setVisible(RankId rank, boolean visible) {
    if (visible) {
      hidden.remove(rank);
    } else {
      hidden.add(rank);
    }
  }

  /** The blocks of a prompt that a rank can reuse if its main group has {@code blocks}. */
  int limit(RankId rank, long[] sequenceHashes, int blocks) {
    if (ranks.isEmpty()) {
      return blocks;
    }
    RankGroups groups = ranks.get(rank);
    return groups == null ? blocks : groups.limit(sequenceHashes, blocks);
  }

  /** Adds the ranks of models without full attention. O(ranks with groups). */
  void addWithoutMain(long[] sequenceHashes, int blocks, boolean hiddenToo, RankMatches matches) {
    if (ranks.isEmpty()) {
      return;
    }
    ranks.forEach(
        (rank, groups) -> {
          if (groups.hasNoMain() && (hiddenToo || !hidden.contains(rank))) {
            int limit = groups.limit(sequenceHashes, blocks);
            if (limit > 0) {
              matches.add(rank, limit);
            }
          }
        });
  }
}
