package io.kvasir.fleet.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.hash.BlockNaming;
import io.kvasir.hash.HashFormat;
import io.kvasir.internal.nativelib.IndexLibrary;
import io.kvasir.model.RankId;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of ranks' main groups, which the native index holds: applies the events that change
 * them. A rank gets its slot with its first change that takes effect. Each method runs within a
 * change.
 */
final class MainGroupBlocks {

  private static final ChangeStatus[] STATUSES = ChangeStatus.values();

  private final HashFormat format;
  private final RankSlots slots;
  private final IndexChanges changes;

  MainGroupBlocks(HashFormat format, RankSlots slots, IndexChanges changes) {
    this.format = format;
    this.slots = slots;
    this.changes = changes;
  }

  /** Blocks are stored. */
  ChangeStatus store(long address, RankId rank, BlockEvent.Stored stored) {
    requireNaming(stored.naming());
    if (format == HashFormat.TRTLLM_V1 && stored.localHashes() != null) {
      throw new IllegalArgumentException(
          "local hashes need format kvasir or dynamo: trtllm-v1 does not chain them");
    }
    Integer slot = slots.of(rank);
    int usedSlot = slot == null ? slots.next() : slot;
    int result =
        changes.require(
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
      slots.assign(usedSlot, rank);
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

  /** Blocks are aliased, removed or cleared. */
  ChangeStatus change(long address, RankId rank, BlockEvent event) {
    Integer slot = slots.of(Objects.requireNonNull(rank, "rank"));
    if (event instanceof BlockEvent.Removed removed) {
      return remove(address, slot, removed.handles());
    }
    if (event instanceof BlockEvent.Aliased aliased) {
      return alias(address, slot, aliased);
    }
    if (slot == null || IndexLibrary.kvasir_index_memberships(address, slot) <= 0) {
      return ChangeStatus.UNCHANGED;
    }
    clear(address, slot);
    return ChangeStatus.APPLIED;
  }

  private ChangeStatus alias(long address, @Nullable Integer slot, BlockEvent.Aliased aliased) {
    long[] handles = aliased.handles();
    if (slot == null) {
      return withoutRank(handles);
    }
    int result =
        changes.require(
            IndexLibrary.kvasir_index_alias(address, slot, handles, aliased.of(), handles.length));
    return status(address, result);
  }

  private ChangeStatus remove(long address, @Nullable Integer slot, long[] handles) {
    if (slot == null) {
      return withoutRank(handles);
    }
    return STATUSES[
        changes.require(IndexLibrary.kvasir_index_remove(address, slot, handles, handles.length))];
  }

  private static ChangeStatus withoutRank(long[] handles) {
    return handles.length == 0 ? ChangeStatus.UNCHANGED : ChangeStatus.UNKNOWN_BLOCK;
  }

  /** The status in the result of a change that adds handles. */
  private ChangeStatus status(long address, int result) {
    if ((result & IndexLibrary.SHED_NEXT) != 0) { // not inside the call, which pins its arrays
      changes.require(IndexLibrary.kvasir_index_shed(address));
    }
    return STATUSES[result & ~IndexLibrary.SHED_NEXT];
  }

  /** Removes all blocks of a slot. */
  void clear(long address, int slot) {
    changes.require(IndexLibrary.kvasir_index_clear(address, slot));
  }
}
