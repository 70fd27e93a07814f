package io.kvasir.testing.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.pool.BlockPool;
import io.kvasir.event.BlockEvent;
import java.util.ArrayList;
import java.util.List;

/**
 * A comparable event of a pool.
 *
 * @param eventId its number
 * @param kind what happened
 * @param block the block's sequence hash, or 0
 * @param parent the parent's, or 0
 */
public record PoolEvent(long eventId, Kind kind, long block, long parent) {

  /** What happened. */
  public enum Kind {
    /** A block without a parent was stored. */
    FIRST_STORED,
    /** A block was stored after its parent. */
    STORED_AFTER,
    /** A block was removed. */
    REMOVED,
    /** All blocks were removed. */
    CLEARED
  }

  /**
   * A block without a parent was stored.
   *
   * @param eventId its number
   * @param block the block's sequence hash
   * @return the event
   */
  public static PoolEvent firstStored(long eventId, long block) {
    return new PoolEvent(eventId, Kind.FIRST_STORED, block, 0);
  }

  /**
   * A block was stored after its parent.
   *
   * @param eventId its number
   * @param parent the parent's sequence hash
   * @param block the block's sequence hash
   * @return the event
   */
  public static PoolEvent storedAfter(long eventId, long parent, long block) {
    return new PoolEvent(eventId, Kind.STORED_AFTER, block, parent);
  }

  /**
   * A block was removed.
   *
   * @param eventId its number
   * @param block the block's sequence hash
   * @return the event
   */
  public static PoolEvent removed(long eventId, long block) {
    return new PoolEvent(eventId, Kind.REMOVED, block, 0);
  }

  /**
   * All blocks were removed.
   *
   * @param eventId its number
   * @return the event
   */
  public static PoolEvent cleared(long eventId) {
    return new PoolEvent(eventId, Kind.CLEARED, 0, 0);
  }

  /**
   * Converts a pool's event, which must hold one block under its sequence hash.
   *
   * @param eventId its number
   * @param event the event
   * @return the comparable event
   */
  public static PoolEvent of(long eventId, BlockEvent event) {
    if (event instanceof BlockEvent.Stored stored) {
      assertThat(stored.handles()).hasSize(1).isEqualTo(stored.sequenceHashes());
      long block = stored.handles()[0];
      return stored.root()
          ? firstStored(eventId, block)
          : storedAfter(eventId, stored.parentHandle(), block);
    }
    if (event instanceof BlockEvent.Removed removed) {
      assertThat(removed.handles()).hasSize(1);
      return removed(eventId, removed.handles()[0]);
    }
    return cleared(eventId);
  }

  /**
   * Drains the events since the last call.
   *
   * @param pool the pool
   * @return the events, in order
   */
  public static List<PoolEvent> drain(BlockPool pool) {
    List<PoolEvent> events = new ArrayList<>();
    int drained = pool.drainEvents((eventId, event) -> events.add(of(eventId, event)));
    assertThat(drained).as("number of events").isEqualTo(events.size());
    return events;
  }

  /**
   * The event as a pool emits it.
   *
   * @return the event
   */
  public BlockEvent event() {
    return switch (kind) {
      case FIRST_STORED -> BlockEvent.Stored.named(null, block);
      case STORED_AFTER -> BlockEvent.Stored.namedAfter(null, parent, block);
      case REMOVED -> BlockEvent.Removed.of(block);
      case CLEARED -> new BlockEvent.Cleared();
    };
  }
}
