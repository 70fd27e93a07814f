package io.kvasir.fleet.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.hash.HashFormat;
import io.kvasir.internal.nativelib.IndexLibrary;
import io.kvasir.model.RankId;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The prefix index in native memory. {@code native/include/kvasir/prefix_index.hpp} describes its
 * data structures, costs and concurrency.
 *
 * <p>The library identifies ranks by small numbers, called slots, which this class assigns. A slot
 * is reused after its rank has been removed; a match that observes the change of owner does not
 * credit the slot.
 *
 * <p>Thread-safe, except that {@link #close} must not run concurrently with any other call. Changes
 * are serialised.
 */
public final class NativePrefixIndex implements PrefixIndex {

  /** Format numbers as in {@code block_hash_core.hpp}. */
  private static final Map<HashFormat, Integer> NATIVE_NUMBERS =
      Map.of(HashFormat.KVASIR, 0, HashFormat.DYNAMO, 1, HashFormat.TRTLLM_V1, 2);

  private static final ChangeStatus[] STATUSES = ChangeStatus.values();

  private final HashFormat format;
  private final int tokensPerBlock;
  private final long address;
  private final ReentrantLock changes = new ReentrantLock();

  // Guarded by `changes`.
  private final Map<RankId, Integer> slots = new HashMap<>();
  private final ArrayDeque<Integer> freeSlots = new ArrayDeque<>();
  private final Set<RankId> hidden = new HashSet<>();

  /** By slot, null where it is free. Replaced on change, never modified. */
  private volatile Known[] known = {};

  private volatile boolean closed;

  /** A rank that has a slot. A new object each time a slot is assigned. */
  private static final class Known {
    private final RankId id;
    private volatile boolean visible;

    private Known(RankId id, boolean visible) {
      this.id = id;
      this.visible = visible;
    }
  }

  /**
   * Creates an empty index.
   *
   * @param format how local hashes are chained; trtllm-v1 does not chain them, so such an index
   *     accepts sequence hashes only
   * @param tokensPerBlock tokens of a block, at least 1
   * @param maxBytes cap on the memory of chains and handles, at least 1 MiB; above it, chains of
   *     the rank with the most blocks are evicted, least recently matched first
   * @throws IllegalArgumentException if an argument is out of range
   * @throws OutOfMemoryError if native memory cannot be allocated
   */
  public NativePrefixIndex(HashFormat format, int tokensPerBlock, long maxBytes) {
    if (tokensPerBlock < 1) {
      throw new IllegalArgumentException(
          "tokensPerBlock must be at least 1, not " + tokensPerBlock);
    }
    if (maxBytes < 1 << 20) {
      throw new IllegalArgumentException("maxBytes must be at least 1048576, not " + maxBytes);
    }
    this.format = format;
    this.tokensPerBlock = tokensPerBlock;
    try {
      this.address = IndexLibrary.kvasir_index_create(NATIVE_NUMBERS.get(format), maxBytes);
    } catch (RuntimeException e) {
      OutOfMemoryError error = new OutOfMemoryError("no memory for a prefix index");
      error.initCause(e);
      throw error;
    }
  }

  /**
   * How local hashes are chained.
   *
   * @return the format
   */
  public HashFormat format() {
    return format;
  }

  /**
   * Tokens of a block.
   *
   * @return at least 1
   */
  public int tokensPerBlock() {
    return tokensPerBlock;
  }

  @Override
  public ChangeStatus apply(RankId rank, BlockEvent event) {
    changes.lock();
    try {
      requireOpen();
      if (event instanceof BlockEvent.Stored stored) {
        return store(rank, stored);
      }
      Integer slot = slots.get(Objects.requireNonNull(rank, "rank"));
      if (event instanceof BlockEvent.Removed removed) {
        return remove(slot, removed.handles());
      }
      boolean held = slot != null && IndexLibrary.kvasir_index_memberships(address, slot) > 0;
      if (held) {
        IndexLibrary.kvasir_index_clear(address, slot);
      }
      return held ? ChangeStatus.APPLIED : ChangeStatus.UNCHANGED;
    } finally {
      changes.unlock();
    }
  }

  /** A rank gets its slot with its first change that takes effect. */
  private ChangeStatus store(RankId rank, BlockEvent.Stored stored) {
    if (format == HashFormat.TRTLLM_V1 && stored.localHashes() != null) {
      throw new IllegalArgumentException(
          "local hashes need format kvasir or dynamo: trtllm-v1 does not chain them");
    }
    Integer slot = slots.get(rank);
    int usedSlot = slot == null ? nextSlot() : slot;
    int number =
        IndexLibrary.kvasir_index_store(
            address,
            usedSlot,
            stored.root(),
            stored.parentHandle(),
            stored.rootHash(),
            stored.handles(),
            stored.localHashes(),
            stored.sequenceHashes(),
            stored.handles().length);
    if (number < 0) { // not inside the call, which holds its arrays in place
      IndexLibrary.kvasir_index_shed(address);
    }
    ChangeStatus status = STATUSES[number < 0 ? number + 8 : number];
    if (slot == null && status == ChangeStatus.APPLIED) {
      take(usedSlot, rank);
    }
    return status;
  }

  private ChangeStatus remove(Integer slot, long[] handles) {
    if (slot == null) {
      return handles.length == 0 ? ChangeStatus.UNCHANGED : ChangeStatus.UNKNOWN_BLOCK;
    }
    return STATUSES[IndexLibrary.kvasir_index_remove(address, slot, handles, handles.length)];
  }

  private int nextSlot() {
    return freeSlots.isEmpty() ? known.length : freeSlots.peek();
  }

  private void take(int slot, RankId rank) {
    freeSlots.poll();
    Known[] more = Arrays.copyOf(known, Math.max(known.length, slot + 1));
    more[slot] = new Known(rank, !hidden.contains(rank));
    known = more;
    slots.put(rank, slot);
  }

  @Override
  public void removeRank(RankId rank) {
    changes.lock();
    try {
      requireOpen();
      hidden.remove(rank);
      Integer slot = slots.remove(rank);
      if (slot != null) {
        IndexLibrary.kvasir_index_clear(address, slot);
        Known[] fewer = known.clone();
        fewer[slot] = null;
        known = fewer;
        freeSlots.add(slot);
      }
    } finally {
      changes.unlock();
    }
  }

  @Override
  public void setVisible(RankId rank, boolean visible) {
    changes.lock();
    try {
      if (visible) {
        hidden.remove(rank);
      } else {
        hidden.add(rank);
      }
      Integer slot = slots.get(rank);
      if (slot != null) {
        known[slot].visible = visible;
      }
    } finally {
      changes.unlock();
    }
  }

  @Override
  public void match(long[] sequenceHashes, int blocks, RankMatches matches) {
    Objects.checkFromIndexSize(0, blocks, sequenceHashes.length);
    requireOpen();
    matches.clear();
    Known[] before = known;
    matches.reserve(before.length);
    int found =
        IndexLibrary.kvasir_index_match(
            address, sequenceHashes, blocks, before.length, matches.slots, matches.depths);
    Known[] after = known;
    for (int i = 0; i < found; i++) {
      int slot = matches.slots[i];
      Known rank = before[slot];
      if (rank != null && rank == after[slot] && rank.visible) {
        matches.add(rank.id, matches.depths[i]);
      }
    }
  }

  @Override
  public IndexStats stats() {
    changes.lock();
    try {
      requireOpen();
      long[] words = new long[5];
      IndexLibrary.kvasir_index_counts(address, words);
      long workers = slots.keySet().stream().mapToLong(RankId::workerId).distinct().count();
      return new IndexStats((int) workers, slots.size(), words[0], words[1], words[3], words[4]);
    } finally {
      changes.unlock();
    }
  }

  /**
   * Writes the index to a stream, which is flushed and left open. Blocks changes, but not matches.
   * O(blocks and handles).
   *
   * @param out the target
   * @throws IOException if the stream fails
   */
  public void save(OutputStream out) throws IOException {
    changes.lock();
    try {
      requireOpen();
      IndexFile.write(out, this, slots, hidden);
    } finally {
      changes.unlock();
    }
  }

  /**
   * Reads an index written by {@link #save}. The result matches as the saved index did.
   *
   * @param in the source; read to the end of the index
   * @param maxBytes cap on memory, as for a new index
   * @return the index; the caller closes it
   * @throws IOException if the stream fails, ends too early, is damaged or has another version
   */
  public static NativePrefixIndex load(InputStream in, long maxBytes) throws IOException {
    return IndexFile.read(in, maxBytes);
  }

  /** Adds a rank with the handles from a file. */
  boolean loadRank(RankId rank, long[] handles, long[] places) {
    if (slots.containsKey(rank)) {
      return false;
    }
    int slot = nextSlot();
    take(slot, rank);
    return IndexLibrary.kvasir_index_load_rank(address, slot, handles, places, handles.length);
  }

  /** Address of the native index, for {@link IndexFile}. */
  long address() {
    return address;
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("the prefix index is closed");
    }
  }

  @Override
  public void close() {
    changes.lock();
    try {
      if (!closed) {
        closed = true;
        IndexLibrary.kvasir_index_destroy(address);
      }
    } finally {
      changes.unlock();
    }
  }
}
