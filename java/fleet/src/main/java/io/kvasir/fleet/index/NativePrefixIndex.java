package io.kvasir.fleet.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.hash.HashFormat;
import io.kvasir.internal.nativelib.IndexLibrary;
import io.kvasir.internal.nativelib.NativeHandle;
import io.kvasir.internal.nativelib.NativeStatus;
import io.kvasir.model.Checks;
import io.kvasir.model.RankId;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The prefix index in native memory. {@code native/include/kvasir/prefix_index.hpp} describes its
 * data structures, costs and concurrency.
 *
 * <p>The library identifies ranks by small numbers, called slots. A slot is reused after its rank
 * has been removed; a match that observes the change of owner does not credit the slot.
 *
 * <p>Thread-safe. Changes are serialised. {@link #close} waits for calls that have begun; later
 * calls throw {@link IllegalStateException}.
 */
public final class NativePrefixIndex implements PrefixIndex {

  private static final String WHAT = "a prefix index";

  private final HashFormat format;
  private final int tokensPerBlock;
  private final NativeHandle handle;
  private final IndexChanges changes;
  private final RankSlots slots = new RankSlots();
  private final MainGroupBlocks main;
  private final CacheGroups groups = new CacheGroups();

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
    this.changes = new IndexChanges(handle);
    this.main = new MainGroupBlocks(format, slots, changes);
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
    long address = changes.begin();
    try {
      if (event instanceof BlockEvent.Stored stored) {
        groups.beforeStored(rank);
        ChangeStatus status = main.store(address, rank, stored);
        groups.onStored(rank, stored, status);
        return status;
      }
      if (event instanceof BlockEvent.GroupStored stored) {
        return groups.onStored(rank, stored, id -> loadGroups(address, slots.of(id)));
      }
      if (event instanceof BlockEvent.GroupRemoved removed) {
        return groups.onRemoved(rank, removed);
      }
      groups.onChanged(rank, event);
      return main.change(address, rank, event);
    } finally {
      changes.end();
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

  /** {@inheritDoc} After a change that failed, the rank only matches no longer. */
  @Override
  public void removeRank(RankId rank) {
    changes.lock();
    try {
      if (changes.failed()) { // its slot is not used again, because its blocks are not removed
        Integer slot = slots.remove(rank);
        if (slot != null) {
          slots.forgetOwner(slot);
        }
        groups.remove(rank);
        return;
      }
      long address = changes.begin();
      try {
        Integer slot = slots.remove(rank);
        if (slot != null) {
          main.clear(address, slot);
          slots.forgetOwner(slot);
          slots.reuse(slot);
        }
        groups.remove(rank);
      } finally {
        changes.end();
      }
    } finally {
      changes.unlock();
    }
  }

  @Override
  public void setVisible(RankId rank, boolean visible) {
    changes.lock();
    try {
      slots.setVisible(rank, visible);
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
    RankSlots.Owner[] before = slots.owners();
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
    RankSlots.Owner[] after = slots.owners();
    for (int i = 0; i < found; i++) {
      int slot = matches.slots[i];
      RankSlots.Owner owner = before[slot];
      if (owner != null && owner == after[slot] && (hiddenToo || owner.visible)) {
        int limit = groups.limit(owner.rank, sequenceHashes, matches.depths[i]);
        if (limit > 0) {
          matches.add(owner.rank, limit);
        }
      }
    }
    groups.addWithoutMain(sequenceHashes, blocks, hiddenToo, matches);
  }

  @Override
  public @Nullable Long sequenceHash(RankId rank, long handle) {
    long address = changes.begin();
    try {
      Integer slot = slots.of(rank);
      long[] hash = new long[1];
      return slot != null && IndexLibrary.kvasir_index_find(address, slot, handle, hash)
          ? (Long) hash[0]
          : null;
    } finally {
      changes.end();
    }
  }

  @Override
  public int known(RankId rank, int group, long[] handles, long[] found) {
    Objects.checkFromIndexSize(0, handles.length, found.length);
    if (group != MAIN_GROUP) {
      return groups.known(rank, group, handles, found);
    }
    long address = changes.begin();
    try {
      Integer slot = slots.of(rank);
      return slot == null
          ? 0
          : IndexLibrary.kvasir_index_known(address, slot, handles, handles.length, found);
    } finally {
      changes.end();
    }
  }

  @Override
  public long handles(RankId rank) {
    long address = changes.begin();
    try {
      Integer slot = slots.of(rank);
      return slot == null
          ? groups.handles(rank)
          : IndexLibrary.kvasir_index_memberships(address, slot);
    } finally {
      changes.end();
    }
  }

  @Override
  public IndexStats stats() {
    long address = changes.begin();
    try {
      long[] words = new long[5];
      IndexLibrary.kvasir_index_counts(address, words);
      long workers = slots.all().keySet().stream().mapToLong(RankId::workerId).distinct().count();
      return new IndexStats(
          (int) workers, slots.all().size(), words[0], words[1], words[3], words[4]);
    } finally {
      changes.end();
    }
  }

  @Override
  public void close() {
    long address = handle.close();
    if (address != 0) {
      IndexLibrary.kvasir_index_destroy(address);
    }
  }
}
