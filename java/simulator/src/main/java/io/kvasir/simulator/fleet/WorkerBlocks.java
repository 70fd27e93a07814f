package io.kvasir.simulator.fleet;

import io.kvasir.event.BlockEvent;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.util.ArrayList;
import java.util.List;

/**
 * Merges the block events of a worker's ranks: a block is stored when the first rank stores it, and
 * removed when the last rank removes it. Policies that choose workers do not see ranks.
 *
 * <p>Not thread-safe. O(1) per event, except when a rank is cleared.
 */
final class WorkerBlocks implements WorkerBlockSink {

  private final List<LongOpenHashSet> held = new ArrayList<>();
  private final Long2IntOpenHashMap holders = new Long2IntOpenHashMap();
  private List<BlockEvent> events = new ArrayList<>();

  WorkerBlocks(int ranks) {
    for (int rank = 0; rank < ranks; rank++) {
      held.add(new LongOpenHashSet());
    }
  }

  /** Receives an event of a pool; it has one block. */
  @Override
  public void on(int rank, BlockEvent event) {
    LongOpenHashSet blocks = held.get(rank);
    if (event instanceof BlockEvent.Stored stored) {
      long block = stored.handles()[0];
      if (blocks.add(block) && holders.addTo(block, 1) == 0) {
        events.add(event);
      }
    } else if (event instanceof BlockEvent.Removed removed) {
      long block = removed.handles()[0];
      if (blocks.remove(block) && release(block)) {
        events.add(event);
      }
    } else if (event instanceof BlockEvent.Cleared) {
      LongArrayList gone = new LongArrayList();
      blocks.forEach(
          block -> {
            if (release(block)) {
              gone.add(block);
            }
          });
      blocks.clear();
      if (!gone.isEmpty()) {
        events.add(BlockEvent.Removed.of(gone.toLongArray()));
      }
    }
  }

  /** True if no rank holds the block any more. */
  private boolean release(long block) {
    if (holders.addTo(block, -1) > 1) {
      return false;
    }
    holders.remove(block);
    return true;
  }

  /** The events since the last call, in order. */
  List<BlockEvent> take() {
    List<BlockEvent> taken = events;
    events = new ArrayList<>();
    return taken;
  }
}
