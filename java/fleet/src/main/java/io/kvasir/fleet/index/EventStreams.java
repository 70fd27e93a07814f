package io.kvasir.fleet.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.model.RankId;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/**
 * Orders the event streams of all ranks in front of an index. The index receives every event once
 * and in order, and a rank with missing events is not matched.
 *
 * <p>A number stands for a batch of events, often of one. The batches of a rank are numbered
 * consecutively with unsigned numbers. A number received before is ignored. A number above the next
 * expected one opens a gap. While the gap is open, the rank is hidden from matches, the {@link
 * RecoverySource} is asked for the missing batches, and later ones wait. The gap closes when all
 * missing batches have arrived, or when they no longer matter: the rank was cleared, a snapshot of
 * its contents arrived, or they are gone for good and the rank restarts empty. Waiting batches
 * above the limit are dropped, which opens another gap.
 *
 * <p>The first number is the base. Where sequences are known to begin at zero ({@link
 * FirstNumber#ZERO}), a sequence that is first seen at a higher number begins with a gap, and the
 * caller notices restarts of the engine: it calls {@link #removeRank}.
 *
 * <p>Otherwise, an engine that restarts numbers its batches from the start again. The sequence
 * <em>starts over</em> when a number repeats with different content, and
 *
 * <ul>
 *   <li>the number is 0, or below the base, or equals the base after later batches; or
 *   <li>the next batch also repeats a higher number with different content (a single such batch is
 *       ignored like any repeated number).
 * </ul>
 *
 * The rank's earlier contents are then discarded and the new sequence counts. A restart goes
 * undetected if all its batches up to the last number received are lost.
 *
 * <p>Thread-safe. The events of one rank must come from one thread at a time, otherwise their order
 * is undefined. No call waits for another rank. O(blocks in the batch) in addition to the index's
 * own cost.
 */
public final class EventStreams {

  private final PrefixIndex index;
  private final RecoverySource source;
  private final StreamLimits limits;
  private final FirstNumber firstNumber;
  private final StreamCounters counters = new StreamCounters();
  private final ConcurrentHashMap<RankId, RankStream> streams = new ConcurrentHashMap<>();

  /**
   * Creates streams into an index.
   *
   * @param index receives the events; owned by the caller, who must not change it elsewhere
   * @param source recovers missing events
   * @param limits how much may wait behind gaps
   * @param firstNumber where sequences begin
   */
  public EventStreams(
      PrefixIndex index, RecoverySource source, StreamLimits limits, FirstNumber firstNumber) {
    this.index = index;
    this.source = source;
    this.limits = limits;
    this.firstNumber = firstNumber;
  }

  /**
   * Takes an event that has a number of its own.
   *
   * @param rank the event's rank
   * @param eventId its number in the rank's sequence, unsigned
   * @param event the change
   */
  public void onEvent(RankId rank, long eventId, BlockEvent event) {
    onBatch(rank, eventId, List.of(event));
  }

  /**
   * Takes a batch of events.
   *
   * @param rank the rank
   * @param number the batch's number in the rank's sequence, unsigned
   * @param batch the changes in order; not copied
   * @return whether the batch has taken effect, now or before; false if it waits or was dropped
   */
  public boolean onBatch(RankId rank, long number, List<BlockEvent> batch) {
    return with(
        rank,
        stream -> {
          stream.onBatch(number, batch);
          return stream.applied(number);
        });
  }

  /**
   * Takes a snapshot of a rank's contents, requested or not.
   *
   * @param rank the rank
   * @param lastEventId the last event included in the contents, unsigned
   * @param contents the blocks, parents before children
   * @return false if later events have already taken effect; nothing is changed then
   */
  public boolean onSnapshot(RankId rank, long lastEventId, List<BlockEvent.Stored> contents) {
    return with(rank, stream -> stream.onDump(lastEventId, contents));
  }

  /**
   * Takes a snapshot of a rank's contents as of the last event received from it.
   *
   * @param rank the rank
   * @param contents the blocks, parents before children
   */
  public void onSnapshot(RankId rank, List<BlockEvent.Stored> contents) {
    with(
        rank,
        stream -> {
          stream.onContents(contents);
          return true;
        });
  }

  /**
   * Removes all ranks of a worker. O(ranks).
   *
   * @param workerId the worker; ignored if unknown
   */
  public void removeWorker(long workerId) {
    for (RankId rank : streams.keySet()) {
      if (rank.workerId() == workerId) {
        removeRank(rank);
      }
    }
  }

  /**
   * Removes a rank, its event numbers and its contents.
   *
   * @param rank the rank; ignored if unknown
   */
  public void removeRank(RankId rank) {
    RankStream stream = streams.get(rank);
    if (stream != null) {
      synchronized (stream) {
        if (!stream.removed()) {
          stream.remove();
          streams.remove(rank, stream);
        }
      }
    }
  }

  /** Asks the source again for every open gap. To be called by a timer. O(ranks). */
  public void retryGaps() {
    streams.forEach(this::retryGap);
  }

  /**
   * Asks the source again if a rank has an open gap.
   *
   * @param rank the rank; ignored if unknown
   */
  public void retryGap(RankId rank) {
    RankStream stream = streams.get(rank);
    if (stream != null) {
      retryGap(rank, stream);
    }
  }

  private void retryGap(RankId rank, RankStream stream) {
    synchronized (stream) {
      stream.backoff().askSoon();
    }
    ask(rank, stream);
  }

  /**
   * Event counts so far. Not an atomic snapshot while events arrive.
   *
   * @return the counts
   */
  public StreamStats stats() {
    return counters.stats();
  }

  /** Returns what the use of the rank's stream does. */
  private boolean with(RankId rank, Predicate<RankStream> use) {
    while (true) {
      RankStream stream =
          streams.computeIfAbsent(
              rank, id -> new RankStream(id, index, limits, firstNumber, counters));
      boolean result;
      synchronized (stream) {
        if (stream.removed()) {
          continue;
        }
        result = use.test(stream);
      }
      ask(rank, stream);
      return result;
    }
  }

  /** Loops because the source may answer synchronously and leave another question to ask. */
  private void ask(RankId rank, RankStream stream) {
    while (true) {
      RankStream.Question question;
      synchronized (stream) {
        question = stream.question();
      }
      if (question == null) {
        return;
      }
      try {
        source.recover(
            rank,
            question.firstEventId(),
            question.lastEventId(),
            new ToStream(rank, stream, question.life()));
      } finally {
        synchronized (stream) {
          stream.backoff().onAsked();
        }
      }
    }
  }

  /** Passes an answer to the stream that asked, unless the engine has restarted since. */
  private final class ToStream implements RecoverySource.Answer {

    private final RankId rank;
    private final RankStream stream;
    private final int life;

    ToStream(RankId rank, RankStream stream, int life) {
      this.rank = rank;
      this.stream = stream;
      this.life = life;
    }

    @Override
    public void events(long firstEventId, List<? extends BlockEvent> events) {
      tell(() -> stream.onAnswer(firstEventId, events));
    }

    @Override
    public void dump(long lastEventId, List<BlockEvent.Stored> contents) {
      tell(() -> stream.onDump(lastEventId, contents));
    }

    @Override
    public void delivered() {
      tell(stream::onDelivered);
    }

    @Override
    public void gone() {
      tell(stream::onGone);
    }

    @Override
    public void failed() {
      tell(stream.backoff()::onFailure);
    }

    private void tell(Runnable answer) {
      synchronized (stream) {
        if (!stream.alive(life)) {
          return;
        }
        answer.run();
      }
      ask(rank, stream);
    }
  }
}
