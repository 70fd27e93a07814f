package io.kvasir.fleet.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.model.RankId;
import java.util.List;

/**
 * Port to a component that can recover missing events, such as a buffer of an engine's recent
 * events or a snapshot of its contents.
 *
 * <p>Called without a lock by the thread that delivered the event after the gap; it should not
 * block. Implementations must be thread-safe.
 */
@FunctionalInterface
public interface RecoverySource {

  /** A source that never answers: a gap ends with a snapshot, a cleared rank or a restart. */
  RecoverySource NONE = (rank, firstEventId, lastEventId, answer) -> {};

  /**
   * Asks for the events of a gap.
   *
   * @param rank the rank
   * @param firstEventId the first missing event, an unsigned number
   * @param lastEventId the last missing event, an unsigned number
   * @param answer receives the events or a snapshot, now or later, on any thread
   */
  void recover(RankId rank, long firstEventId, long lastEventId, Answer answer);

  /** Receives what a source has found. Late and repeated answers are harmless. Thread-safe. */
  interface Answer {

    /**
     * Delivers events that the source still has. If the first one is later than the first one asked
     * for, the events in between are lost for good, and the rank's earlier contents are discarded.
     *
     * @param firstEventId the number of the first, unsigned
     * @param events the events in order and without a gap; they may end before or after the gap
     */
    void events(long firstEventId, List<? extends BlockEvent> events);

    /**
     * The source has delivered what it has with {@link EventStreams#onBatch}. It is asked again for
     * what is still missing.
     */
    void delivered();

    /**
     * Delivers a snapshot of the rank's contents.
     *
     * @param lastEventId the last event included in the contents, an unsigned number; the snapshot
     *     is ignored if later ones have already taken effect
     * @param contents the blocks, parents before children
     */
    void dump(long lastEventId, List<BlockEvent.Stored> contents);

    /** The events are gone for good: the rank is cleared and continues with the waiting events. */
    void gone();

    /** No answer this time; the source is asked again after more events, or on request. */
    void failed();
  }
}
