package io.kvasir.fleet.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.model.RankId;
import java.util.List;

/**
 * Who can be asked for events that got lost: a port to whatever keeps an engine's last events, or
 * knows what it holds.
 *
 * <p>Called by the thread that told the event behind the gap, without a lock held; it should not
 * block. Implementations must be thread-safe.
 */
@FunctionalInterface
public interface RecoverySource {

  /** A source that never answers: a gap ends with a snapshot, a cleared rank or a restart. */
  RecoverySource NONE = (rank, firstEventId, lastEventId, answer) -> {};

  /**
   * Asks for the events of a gap.
   *
   * @param rank whose
   * @param firstEventId the first that is missing, an unsigned number
   * @param lastEventId the last that is missing, an unsigned number
   * @param answer is told the events, or what the rank holds, now or later, by any thread
   */
  void recover(RankId rank, long firstEventId, long lastEventId, Answer answer);

  /** Takes what a source has found. Late and repeated answers do no harm. Thread-safe. */
  interface Answer {

    /**
     * Events that the source still has. If the first of them comes after the first one asked for,
     * those between are lost for good: what the rank held before is forgotten.
     *
     * @param firstEventId the number of the first, unsigned
     * @param events what they say, in order and without a gap; they may end early or late
     */
    void events(long firstEventId, List<? extends BlockEvent> events);

    /**
     * Everything that the rank holds.
     *
     * @param lastEventId the last event that the contents account for, an unsigned number; ignored
     *     if later ones have taken effect already
     * @param contents the blocks, parents before children
     */
    void dump(long lastEventId, List<BlockEvent.Stored> contents);

    /** Nobody has the events any more: the rank goes on from what waits, holding nothing before. */
    void gone();

    /** No answer this time; the source is asked again after some more events, or on request. */
    void failed();
  }
}
