package io.kvasir.fleet.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.hash.BlockNaming;
import io.kvasir.hash.HashFormat;
import io.kvasir.internal.nativelib.IndexLibrary;
import io.kvasir.internal.nativelib.NativeHandle;
import io.kvasir.internal.nativelib.NativeStatus;
import io.kvasir.model.Checks;
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
import org.jspecify.annotations.Nullable;

/**
 * The prefix index in native memory. {@code native/include/kvasir/prefix_index.hpp} describes its
 * data structures, costs and concurrency.
 *
 * <p>The library identifies ranks by small numbers, called slots, which this class assigns. A slot
 * is reused after its rank has been removed; a match that observes the change of owner does not
 * credit the slot.
 *
 * <p>Thread-safe. Changes are serialised. {@link #close} waits for calls that have begun; later
 * calls throw {@link IllegalStateException}.
 */
public final class NativePrefixIndex implements PrefixIndex {

  private static final String WHAT = "a prefix index";
  private static final ChangeStatus[] STATUSES = ChangeStatus.values();

  private final HashFormat format;
  private final int tokensPerBlock;
  private final NativeHandle handle;
  private final ReentrantLock changes = new ReentrantLock();

  // Guarded by `changes`.
  private final Map<RankId, Integer> slots = new HashMap<>();
  private final ArrayDeque<Integer> freeSlots = new ArrayDeque<>();
  private final Set<RankId> hidden = new HashSet<>();
  private boolean failed;

  private final CacheGroups groups = new CacheGroups();

  /** By slot, null where it is free. Replaced on change, never modified. */
  private volatile Known[] known = {};

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
    Checks.atLeast("tokensPerBlock", tokensPerBlock, 1);
    Checks.atLeast("maxBytes", maxBytes, 1 << 20);
    this.format = format;
    this.tokensPerBlock = tokensPerBlock;
    long address = IndexLibrary.kvasir_index_create(number(format), maxBytes);
    this.handle = new NativeHandle("prefix index", NativeStatus.require(address, WHAT));
  }

  /** A format's number in {@code block_hash_core.hpp}. */
  private static int number(HashFormat format) {
    return switch (format) {
      case KVASIR -> 0;
      case DYNAMO -> 1;
      case TRTLLM_V1 -> 2;
    };
  }

  /** {@return how local hashes are chained} */
  public HashFormat format() {
    return format;
  }

  /** {@return the number of tokens of a block, at least 1} */
  public int tokensPerBlock() {
    return tokensPerBlock;
  }

  @Override
  public ChangeStatus apply(RankId rank, BlockEvent event) {
    long address = beginChange();
    try {
      if (event instanceof BlockEvent.Stored stored) {
        groups.beforeStored(rank);
        ChangeStatus status = store(address, rank, stored);
        groups.onStored(rank, stored, status);
        return status;
      }
      if (event instanceof BlockEvent.GroupStored stored) {
        return groups.onStored(rank, stored, id -> loadGroups(address, slots.get(id)));
      }
      if (event instanceof BlockEvent.GroupRemoved removed) {
        return groups.onRemoved(rank, removed);
      }
      groups.onChanged(rank, event);
      Integer slot = slots.get(Objects.requireNonNull(rank, "rank"));
      if (event instanceof BlockEvent.Removed removed) {
        return remove(address, slot, removed.handles());
      }
      if (event instanceof BlockEvent.Aliased aliased) {
        return alias(address, slot, aliased);
      }
      if (slot == null || IndexLibrary.kvasir_index_memberships(address, slot) <= 0) {
        return ChangeStatus.UNCHANGED;
      }
      require(IndexLibrary.kvasir_index_clear(address, slot));
      return ChangeStatus.APPLIED;
    } finally {
      endChange();
    }
  }

  /** What is known of a rank when its first further group shows. */
  private RankGroups loadGroups(long address, @Nullable Integer slot) {
    RankGroups made = groups.newRank();
    if (slot != null) {
      int count = (int) IndexLibrary.kvasir_index_memberships(address, slot);
      long[] handles = new long[count];
      long[] names = new long[count];
      IndexLibrary.kvasir_index_list(address, slot, handles, names);
      made.load(handles, names, count);
    }
    return made;
  }

  /** A rank gets its slot with its first change that takes effect. */
  private ChangeStatus store(long address, RankId rank, BlockEvent.Stored stored) {
    requireNaming(stored.naming());
    if (format == HashFormat.TRTLLM_V1 && stored.localHashes() != null) {
      throw new IllegalArgumentException(
          "local hashes need format kvasir or dynamo: trtllm-v1 does not chain them");
    }
    Integer slot = slots.get(rank);
    int usedSlot = slot == null ? nextSlot() : slot;
    int result =
        require(
            IndexLibrary.kvasir_index_store(
                address,
                usedSlot,
                stored.root(),
                stored.parentHandle(),
                stored.rootHash(),
                stored.handles(),
                stored.localHashes(),
                stored.sequenceHashes(),
                stored.handles().length));
    ChangeStatus status = status(address, result);
    if (slot == null && status == ChangeStatus.APPLIED) {
      take(usedSlot, rank);
    }
    return status;
  }

  /** Hashes of different namings are not comparable: blocks of another one would never match. */
  private void requireNaming(@Nullable BlockNaming naming) {
    if (naming != null && !naming.id().equals(format.id())) {
      throw new IllegalArgumentException(
          "the event names its blocks in the hash format "
              + naming.id()
              + ", and the index in "
              + format.id()
              + ": they must have one format");
    }
  }

  private ChangeStatus alias(long address, @Nullable Integer slot, BlockEvent.Aliased aliased) {
    long[] handles = aliased.handles();
    if (slot == null) {
      return withoutRank(handles);
    }
    int result =
        require(
            IndexLibrary.kvasir_index_alias(address, slot, handles, aliased.of(), handles.length));
    return status(address, result);
  }

  /** The status in the result of a change that adds handles. */
  private ChangeStatus status(long address, int result) {
    if ((result & IndexLibrary.SHED_NEXT) != 0) { // not inside the call, which pins its arrays
      require(IndexLibrary.kvasir_index_shed(address));
    }
    return STATUSES[result & ~IndexLibrary.SHED_NEXT];
  }

  private static ChangeStatus withoutRank(long[] handles) {
    return handles.length == 0 ? ChangeStatus.UNCHANGED : ChangeStatus.UNKNOWN_BLOCK;
  }

  private ChangeStatus remove(long address, @Nullable Integer slot, long[] handles) {
    if (slot == null) {
      return withoutRank(handles);
    }
    return STATUSES[
        require(IndexLibrary.kvasir_index_remove(address, slot, handles, handles.length))];
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

  /** {@inheritDoc} After a change that failed, the rank only matches no longer. */
  @Override
  public void removeRank(RankId rank) {
    changes.lock();
    try {
      if (failed) { // its slot is not used again, because its blocks are not removed
        Integer slot = slots.remove(rank);
        hidden.remove(rank);
        forgetSlot(slot);
        groups.remove(rank);
        return;
      }
      long address = beginChange();
      try {
        hidden.remove(rank);
        Integer slot = slots.remove(rank);
        if (slot != null) {
          require(IndexLibrary.kvasir_index_clear(address, slot));
          forgetSlot(slot);
          freeSlots.add(slot);
        }
        groups.remove(rank);
      } finally {
        endChange();
      }
    } finally {
      changes.unlock();
    }
  }

  private void forgetSlot(@Nullable Integer slot) {
    if (slot != null) {
      Known[] fewer = known.clone();
      fewer[slot] = null;
      known = fewer;
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
      groups.setVisible(rank, visible);
    } finally {
      changes.unlock();
    }
  }

  @Override
  public void match(long[] sequenceHashes, int blocks, RankMatches matches) {
    match(sequenceHashes, blocks, false, matches);
  }

  @Override
  public void matchAll(long[] sequenceHashes, int blocks, RankMatches matches) {
    match(sequenceHashes, blocks, true, matches);
  }

  private void match(long[] sequenceHashes, int blocks, boolean hiddenToo, RankMatches matches) {
    Objects.checkFromIndexSize(0, blocks, sequenceHashes.length);
    matches.clear();
    Known[] before = known;
    matches.reserve(before.length);
    int found;
    long address = handle.enter();
    try {
      long result =
          IndexLibrary.kvasir_index_match(
              address, sequenceHashes, blocks, before.length, matches.slots, matches.depths);
      found = (int) NativeStatus.require(result, WHAT);
    } finally {
      handle.leave();
    }
    Known[] after = known;
    for (int i = 0; i < found; i++) {
      int slot = matches.slots[i];
      Known rank = before[slot];
      if (rank != null && rank == after[slot] && (hiddenToo || rank.visible)) {
        int limit = groups.limit(rank.id, sequenceHashes, matches.depths[i]);
        if (limit > 0) {
          matches.add(rank.id, limit);
        }
      }
    }
    groups.addWithoutMain(sequenceHashes, blocks, hiddenToo, matches);
  }

  @Override
  public @Nullable Long sequenceHash(RankId rank, long handle) {
    long address = beginChange();
    try {
      Integer slot = slots.get(rank);
      long[] hash = new long[1];
      return slot != null && IndexLibrary.kvasir_index_find(address, slot, handle, hash)
          ? (Long) hash[0]
          : null;
    } finally {
      endChange();
    }
  }

  @Override
  public int known(RankId rank, int group, long[] handles, long[] found) {
    Objects.checkFromIndexSize(0, handles.length, found.length);
    if (group != MAIN_GROUP) {
      return groups.known(rank, group, handles, found);
    }
    long address = beginChange();
    try {
      Integer slot = slots.get(rank);
      return slot == null
          ? 0
          : IndexLibrary.kvasir_index_known(address, slot, handles, handles.length, found);
    } finally {
      endChange();
    }
  }

  @Override
  public long handles(RankId rank) {
    long address = beginChange();
    try {
      Integer slot = slots.get(rank);
      return slot == null
          ? groups.handles(rank)
          : IndexLibrary.kvasir_index_memberships(address, slot);
    } finally {
      endChange();
    }
  }

  @Override
  public IndexStats stats() {
    long address = beginChange();
    try {
      long[] words = new long[5];
      IndexLibrary.kvasir_index_counts(address, words);
      long workers = slots.keySet().stream().mapToLong(RankId::workerId).distinct().count();
      return new IndexStats((int) workers, slots.size(), words[0], words[1], words[3], words[4]);
    } finally {
      endChange();
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
    long address = beginChange();
    try {
      IndexFile.write(out, this, address, slots, hidden);
    } finally {
      endChange();
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

  /** Adds a run from a file. False if it is inconsistent. */
  boolean loadRun(long parent, long[] names) {
    long address = beginChange();
    try {
      return require(IndexLibrary.kvasir_index_load_run(address, parent, names, names.length)) != 0;
    } finally {
      endChange();
    }
  }

  /** Adds a rank with the handles from a file. False if they are inconsistent. */
  boolean loadRank(RankId rank, long[] handles, long[] places) {
    long address = beginChange();
    try {
      if (slots.containsKey(rank)) {
        return false;
      }
      int slot = nextSlot();
      take(slot, rank);
      return require(
              IndexLibrary.kvasir_index_load_rank(address, slot, handles, places, handles.length))
          != 0;
    } finally {
      endChange();
    }
  }

  /** Ends the loading of a file. */
  void endLoad() {
    long address = beginChange();
    try {
      require(IndexLibrary.kvasir_index_end_load(address));
    } finally {
      endChange();
    }
  }

  private long beginChange() {
    changes.lock();
    try {
      if (failed) {
        throw new IllegalStateException(
            "the prefix index ran out of memory during a change; close it and build it again");
      }
      return handle.enter();
    } catch (IllegalStateException e) {
      changes.unlock();
      throw e;
    }
  }

  /** The result of a change. A change that fails halfway leaves an index that only matches. */
  private int require(long result) {
    failed |= result < 0;
    return (int) NativeStatus.require(result, WHAT);
  }

  private void endChange() {
    handle.leave();
    changes.unlock();
  }

  @Override
  public void close() {
    long address = handle.close();
    if (address != 0) {
      IndexLibrary.kvasir_index_destroy(address);
    }
  }
}
