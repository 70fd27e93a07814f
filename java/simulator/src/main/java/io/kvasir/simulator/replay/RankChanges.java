package io.kvasir.simulator.replay;

import io.kvasir.event.BlockEvent;
import io.kvasir.event.CacheChange;
import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.ArrayList;
import java.util.List;

/**
 * Puts the events of one rank's pool as an engine would tell them: blocks of one chain in one
 * change, under their sequence hashes as handles. Not thread-safe; for one iteration.
 */
final class RankChanges implements BlockSink {

  private final Long2LongOpenHashMap localOf;
  private final List<CacheChange> changes = new ArrayList<>();
  private final LongArrayList handles = new LongArrayList();
  private final LongArrayList locals = new LongArrayList();
  private boolean root;
  private long parent;

  /** Begins without changes; {@code localOf} knows the local hash of each sequence hash. */
  RankChanges(Long2LongOpenHashMap localOf) {
    this.localOf = localOf;
  }

  @Override
  public void on(int rank, BlockEvent event) {
    if (event instanceof BlockEvent.Stored stored) {
      store(stored);
    } else if (event instanceof BlockEvent.Removed removed) {
      endChain();
      changes.add(new CacheChange.Removed(new long[] {removed.blockHash()}));
    } else {
      clear(rank);
    }
  }

  private void store(BlockEvent.Stored stored) {
    boolean goesOn =
        !handles.isEmpty()
            && stored.depth() > 0
            && stored.parentHash() == handles.getLong(handles.size() - 1);
    if (!goesOn) {
      endChain();
      root = stored.depth() == 0;
      parent = stored.parentHash();
    }
    if (!localOf.containsKey(stored.blockHash())) {
      throw new IllegalStateException("a block was stored that nobody hashed");
    }
    handles.add(stored.blockHash());
    locals.add(localOf.get(stored.blockHash()));
  }

  private void endChain() {
    if (!handles.isEmpty()) {
      long[] named = handles.toLongArray();
      long[] hashed = locals.toLongArray();
      changes.add(
          root
              ? CacheChange.Stored.root(named, hashed)
              : CacheChange.Stored.after(parent, named, hashed));
      handles.clear();
      locals.clear();
    }
  }

  @Override
  public void clear(int rank) {
    endChain();
    changes.add(new CacheChange.Cleared());
  }

  /** All changes, in their order. */
  List<CacheChange> take() {
    endChain();
    return changes;
  }
}
