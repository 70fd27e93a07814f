package io.kvasir.fleet.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import net.openhft.hashing.LongHashFunction;

/**
 * A direct implementation of the rules of {@link PrefixIndex}: per rank, a map from handle to
 * block. A block is its sequence hash. The oracle for all other indexes. Thread-safe: one lock.
 *
 * <p>Resolves what the interface leaves open: a rank is known from its first effective change until
 * it is removed, even if it is cleared; a stored event is checked for repeated handles before its
 * parent is looked up; a handle repeated in a removal is unknown the second time; a removed rank
 * becomes visible again.
 */
class NaiveIndex implements PrefixIndex {

  private static final long KVASIR_ROOT = 0x243F6A8885A308D3L;

  private final HashFormat format;
  private final Map<RankId, Rank> ranks = new TreeMap<>();
  private final Set<RankId> hidden = new HashSet<>();

  NaiveIndex(HashFormat format) {
    this.format = format;
  }

  /** One rank's handles, and the number of handles per block. */
  private static final class Rank {
    final Map<Long, Long> blockOf = new HashMap<>();
    final Map<Long, Integer> names = new HashMap<>();

    void bind(long handle, long block) {
      blockOf.put(handle, block);
      names.merge(block, 1, Integer::sum);
    }

    boolean unbind(long handle) {
      Long block = blockOf.remove(handle);
      if (block == null) {
        return false;
      }
      names.computeIfPresent(block, (same, count) -> count == 1 ? null : count - 1);
      return true;
    }
  }

  /** The sequence hash of a block from its parent's; {@code first} if it starts a prompt. */
  static long chain(HashFormat format, boolean first, long parent, long local) {
    return switch (format) {
      case KVASIR -> mix(first && parent == 0 ? KVASIR_ROOT : parent, local);
      case DYNAMO -> first && parent == 0 ? local : pair(parent, local);
      case TRTLLM_V1 ->
          throw new IllegalArgumentException(
              "local hashes need format kvasir or dynamo: trtllm-v1 does not chain them");
    };
  }

  /** The sequence hashes of a prompt from its local ones. */
  static long[] chain(HashFormat format, long rootHash, long... locals) {
    long[] sequence = new long[locals.length];
    for (int i = 0; i < locals.length; i++) {
      sequence[i] = chain(format, i == 0, i == 0 ? rootHash : sequence[i - 1], locals[i]);
    }
    return sequence;
  }

  private static long mix(long parent, long local) {
    long x = parent ^ local;
    x = (x ^ (x >>> 32)) * 0x0E9846AF9B1A615DL;
    x = (x ^ (x >>> 32)) * 0x0E9846AF9B1A615DL;
    return x ^ (x >>> 28);
  }

  private static long pair(long parent, long local) {
    ByteBuffer bytes = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN);
    return LongHashFunction.xx3(1337).hashBytes(bytes.putLong(parent).putLong(local).array());
  }

  @Override
  public synchronized ChangeStatus apply(RankId id, BlockEvent event) {
    Rank rank = ranks.getOrDefault(id, new Rank());
    ChangeStatus status;
    if (event instanceof BlockEvent.Stored stored) {
      status = store(rank, stored);
    } else if (event instanceof BlockEvent.Removed removed) {
      status = remove(rank, removed);
    } else if (event instanceof BlockEvent.Aliased aliased) {
      status = alias(rank, aliased);
    } else {
      status = clear(rank);
    }
    if (status == ChangeStatus.APPLIED) { // an event that names unknown blocks has no first effect
      ranks.put(id, rank);
    }
    return status;
  }

  private ChangeStatus store(Rank rank, BlockEvent.Stored stored) {
    Set<Long> handles = new HashSet<>();
    if (!stored.root()) {
      handles.add(stored.parentHandle());
    }
    for (long handle : stored.handles()) {
      if (!handles.add(handle)) {
        return ChangeStatus.INVALID_SEQUENCE;
      }
    }
    if (!stored.root() && !rank.blockOf.containsKey(stored.parentHandle())) {
      return ChangeStatus.UNKNOWN_PARENT;
    }
    long block = stored.root() ? stored.rootHash() : rank.blockOf.get(stored.parentHandle());
    ChangeStatus status = ChangeStatus.UNCHANGED;
    for (int i = 0; i < stored.handles().length; i++) {
      block =
          stored.sequenceHashes() != null
              ? stored.sequenceHashes()[i]
              : chain(format, stored.root() && i == 0, block, stored.localHashes()[i]);
      Long before = rank.blockOf.get(stored.handles()[i]);
      if (before == null || before != block) {
        rank.unbind(stored.handles()[i]);
        rank.bind(stored.handles()[i], block);
        status = ChangeStatus.APPLIED;
      }
    }
    return status;
  }

  private static ChangeStatus alias(Rank rank, BlockEvent.Aliased aliased) {
    ChangeStatus status = ChangeStatus.UNCHANGED;
    boolean unknown = false;
    for (int i = 0; i < aliased.handles().length; i++) {
      Long block = rank.blockOf.get(aliased.of()[i]);
      unknown |= block == null;
      if (block != null && !block.equals(rank.blockOf.get(aliased.handles()[i]))) {
        rank.unbind(aliased.handles()[i]);
        rank.bind(aliased.handles()[i], block);
        status = ChangeStatus.APPLIED;
      }
    }
    return unknown ? ChangeStatus.UNKNOWN_BLOCK : status;
  }

  private static ChangeStatus remove(Rank rank, BlockEvent.Removed removed) {
    ChangeStatus status =
        removed.handles().length == 0 ? ChangeStatus.UNCHANGED : ChangeStatus.APPLIED;
    for (long handle : removed.handles()) {
      if (!rank.unbind(handle)) {
        status = ChangeStatus.UNKNOWN_BLOCK;
      }
    }
    return status;
  }

  private static ChangeStatus clear(Rank rank) {
    if (rank.blockOf.isEmpty()) {
      return ChangeStatus.UNCHANGED;
    }
    rank.blockOf.clear();
    rank.names.clear();
    return ChangeStatus.APPLIED;
  }

  @Override
  public synchronized void removeRank(RankId rank) {
    ranks.remove(rank);
    hidden.remove(rank);
  }

  @Override
  public synchronized void setVisible(RankId rank, boolean visible) {
    if (visible) {
      hidden.remove(rank);
    } else {
      hidden.add(rank);
    }
  }

  @Override
  public synchronized void match(long[] sequenceHashes, int blocks, RankMatches matches) {
    matches.clear();
    ranks.forEach(
        (id, rank) -> {
          int held = 0;
          while (held < blocks && rank.names.containsKey(sequenceHashes[held])) {
            held++;
          }
          if (held > 0 && !hidden.contains(id)) {
            matches.add(id, held);
          }
        });
  }

  /** The block that a rank's handle names, or null. */
  synchronized Long block(RankId rank, long handle) {
    return ranks.containsKey(rank) ? ranks.get(rank).blockOf.get(handle) : null;
  }

  /** Whether a handle names a block of a rank. */
  synchronized boolean names(RankId rank, long handle) {
    return block(rank, handle) != null;
  }

  /** Whether a rank holds a block, regardless of earlier blocks. */
  synchronized boolean holds(RankId rank, long block) {
    return ranks.containsKey(rank) && ranks.get(rank).names.containsKey(block);
  }

  @Override
  public synchronized IndexStats stats() {
    Set<Long> workers = new HashSet<>();
    Set<Long> blocks = new HashSet<>();
    long memberships = 0;
    for (Map.Entry<RankId, Rank> entry : ranks.entrySet()) {
      workers.add(entry.getKey().workerId());
      blocks.addAll(entry.getValue().names.keySet());
      memberships += entry.getValue().blockOf.size();
    }
    return new IndexStats(workers.size(), ranks.size(), memberships, blocks.size(), 0, 0);
  }

  @Override
  public void close() {}
}
