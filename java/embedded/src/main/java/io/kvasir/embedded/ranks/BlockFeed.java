package io.kvasir.embedded.ranks;

import io.kvasir.embedded.publish.BlockChange;
import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.PoolGroup;
import io.kvasir.event.BlockEvent;
import io.kvasir.event.CacheGroup;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Follows the events of one rank's pool: adds the tokens of stored blocks, joins neighbours, and
 * keeps the blocks that the rank holds.
 *
 * <p>The tokens of a block are kept from its commit to the end of the iteration; the pool's stored
 * event lies between. Held blocks cost about 100 bytes each.
 *
 * <p>Confined to the ranks' thread.
 */
public final class BlockFeed {

  private final int rank;
  private final int blockTokens;
  private final BlockSink sink;
  private final Map<Long, Committed> committed = new HashMap<>();
  private final Map<Long, Held> held = new LinkedHashMap<>();
  private final List<Further> further = new ArrayList<>();
  private List<BlockChange> changes = new ArrayList<>();
  private final Run run = new Run();
  private long nextEvent;
  private long lastNumber = -1;

  /** A block of a sequence whose tokens and hashes are known. */
  @SuppressWarnings("ArrayRecordComponent") // not compared
  private record Committed(int[] tokens, long[] hashes, int block, @Nullable String salt) {}

  /**
   * A further group of a hybrid model: what it holds, and how many blocks end where it keeps one.
   */
  private record Further(BlockChange.Group group, int everyBlocks, Set<Long> held) {}

  /** Where a block is; the parent has no meaning at position 0. */
  private record Held(long parent, int position) {}

  /**
   * The blocks that a rank holds. Immutable by contract.
   *
   * @param rank the rank
   * @param lastNumber the number of the last batch; -1 if there is none
   * @param hashes sequence hashes, oldest block first
   * @param parents the sequence hash before each; without meaning at position 0
   * @param positions the index of each block in its sequence
   */
  @SuppressWarnings("ArrayRecordComponent") // not compared
  public record Truth(int rank, long lastNumber, long[] hashes, long[] parents, int[] positions) {}

  /**
   * Creates a feed of an empty pool.
   *
   * @param rank index of the rank
   * @param blockTokens tokens of a block
   * @param groups cache groups of the pool besides full attention
   * @param sink receives the changes
   */
  public BlockFeed(int rank, int blockTokens, List<PoolGroup> groups, BlockSink sink) {
    this.rank = rank;
    this.blockTokens = blockTokens;
    this.sink = sink;
    for (PoolGroup each : groups) {
      boolean window = each.kind() == CacheGroup.Kind.WINDOW;
      BlockChange.Group group =
          new BlockChange.Group(
              further.size() + 1, window ? "sliding_window" : "mamba", window ? each.tokens() : 0);
      further.add(new Further(group, each.everyBlocks(blockTokens), new LinkedHashSet<>()));
    }
  }

  /** Blocks of a sequence are committed; see {@code RequestListener}. */
  void onCommitted(@Nullable String salt, int[] tokens, long[] hashes, int from, int to) {
    for (int block = from; block < to; block++) {
      committed.put(hashes[block], new Committed(tokens, hashes, block, salt));
    }
  }

  /** Passes on what has changed in the pool since the last call. */
  void drain(BlockPool pool) {
    pool.drainEvents(this::onEvent);
    committed.clear();
    publish();
  }

  /** The rank ends: its blocks are removed. */
  void retire() {
    committed.clear();
    if (!held.isEmpty()) {
      changes.add(new BlockChange.Removed(BlockChange.Group.FULL.index(), hashes()));
    }
    for (Further each : further) {
      if (!each.held.isEmpty()) {
        changes.add(new BlockChange.Removed(each.group.index(), array(each.held)));
      }
    }
    clear();
    publish();
  }

  private void clear() {
    held.clear();
    further.forEach(each -> each.held.clear());
  }

  /** The rank restarts without an event: its blocks are removed, numbers start from 0. */
  void restart(BlockPool pool) {
    pool.clear();
    pool.drainEvents((number, event) -> nextEvent = number + 1);
    committed.clear();
    clear();
    lastNumber = -1;
    sink.restart(rank);
  }

  /** What the rank holds. O(blocks). */
  Truth truth() {
    long[] hashes = hashes();
    long[] parents = new long[hashes.length];
    int[] positions = new int[hashes.length];
    int i = 0;
    for (Held block : held.values()) {
      parents[i] = block.parent;
      positions[i++] = block.position;
    }
    return new Truth(rank, lastNumber, hashes, parents, positions);
  }

  private long[] hashes() {
    return array(held.keySet());
  }

  private static long[] array(Set<Long> hashes) {
    return hashes.stream().mapToLong(Long::longValue).toArray();
  }

  private void publish() {
    run.end();
    if (!changes.isEmpty()) {
      lastNumber = sink.take(rank, changes);
      changes = new ArrayList<>();
    }
  }

  private void onEvent(long number, BlockEvent event) {
    if (number != nextEvent++) {
      throw new IllegalStateException("events of rank " + rank + " are lost before " + number);
    }
    if (event instanceof BlockEvent.Stored stored) {
      store(stored.root(), stored.parentHandle(), stored.handles()[0]);
    } else if (event instanceof BlockEvent.Removed removed) {
      held.remove(removed.handles()[0]);
      run.remove(BlockChange.Group.FULL, removed.handles()[0]);
    } else if (event instanceof BlockEvent.GroupStored stored) {
      store(further.get(stored.group().index() - 1), stored.hashes()[0]);
    } else if (event instanceof BlockEvent.GroupRemoved removed) {
      Further each = further.get(removed.group() - 1);
      each.held.remove(removed.handles()[0]);
      run.remove(each.group, removed.handles()[0]);
    } else {
      clear();
      run.end();
      changes.add(new BlockChange.Cleared());
    }
  }

  private void store(boolean root, long parent, long hash) {
    Committed block = committed(hash);
    int position = root ? 0 : Objects.requireNonNull(held.get(parent)).position + 1;
    held.put(hash, new Held(parent, position));
    run.store(BlockChange.Group.FULL, 1, hash, block);
  }

  private void store(Further each, long hash) {
    each.held.add(hash);
    run.store(each.group, each.everyBlocks, hash, committed(hash));
  }

  private Committed committed(long hash) {
    return Objects.requireNonNull(committed.get(hash), "a block was not committed");
  }

  /** Neighbouring events of one kind and group, which become one change. */
  private final class Run {

    private BlockChange.Group group = BlockChange.Group.FULL;
    private long[] hashes = new long[16];
    private int size;
    private int[] tokens = {};
    private int tokenCount;
    private boolean stores;
    private boolean root;
    private long parent;
    private @Nullable String salt;

    /**
     * Adds a block with its tokens, and those of the blocks before it that the group leaves out.
     */
    void store(BlockChange.Group of, int blocks, long hash, Committed block) {
      int first = block.block + 1 - blocks;
      long behind = first == 0 ? 0 : block.hashes[first - 1];
      if (!stores || !of.equals(group) || first == 0 || size == 0 || behind != hashes[size - 1]) {
        end();
        stores = true;
        group = of;
        root = first == 0;
        parent = behind;
        salt = block.salt;
      }
      add(hash);
      int count = blocks * blockTokens;
      if (tokens.length < tokenCount + count) {
        tokens = Arrays.copyOf(tokens, 2 * (tokenCount + count));
      }
      System.arraycopy(block.tokens, first * blockTokens, tokens, tokenCount, count);
      tokenCount += count;
    }

    void remove(BlockChange.Group of, long hash) {
      if (stores || !of.equals(group)) {
        end();
        group = of;
      }
      add(hash);
    }

    private void add(long hash) {
      if (size == hashes.length) {
        hashes = Arrays.copyOf(hashes, size * 2);
      }
      hashes[size++] = hash;
    }

    void end() {
      if (size > 0) {
        long[] all = Arrays.copyOf(hashes, size);
        changes.add(
            stores
                ? new BlockChange.Stored(
                    group, root, parent, all, Arrays.copyOf(tokens, tokenCount), salt)
                : new BlockChange.Removed(group.index(), all));
        size = 0;
        tokenCount = 0;
      }
      stores = false;
    }
  }
}
