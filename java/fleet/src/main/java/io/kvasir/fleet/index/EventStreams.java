package io.kvasir.fleet.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.model.RankId;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * The event streams of all ranks, in front of an index: they see to it that the index is told every
 * event once and in order, or that nobody is matched on what is not so.
 *
 * <p>The events of a rank are numbered one by one; the numbers are unsigned. The first one heard is
 * the base. A number that was heard is ignored. A higher number than the next one is a gap: the
 * rank is hidden, and matches nothing, while a {@link RecoverySource} is asked for what is missing;
 * what comes meanwhile waits. The gap ends when all missing events have come, by whatever way, or
 * when it no longer matters what they said: the rank was cleared, its whole contents are known, or
 * the events are gone for good and it starts again holding nothing. Too much that waits is dropped,
 * and is a gap of its own.
 *
 * <p>An engine that restarts counts from the start again. The sequence <em>starts over</em> when a
 * number comes again that does not say what it said then, and
 *
 * <ul>
 *   <li>it is 0, or below the base, or the base while there have been others since; or
 *   <li>it is any other, and the next event is such a one too, with a higher number (a single one
 *       is ignored, as every number that comes again).
 * </ul>
 *
 * Then all that the rank held is forgotten, and what it says from there on counts. A restart cannot
 * be told if all numbers up to the last one heard are lost on the way.
 *
 * <p>Thread-safe. Events of one rank must be told by one thread at a time, else their order is
 * undefined; no call waits for another rank. O(blocks in the event) beside the index's own cost.
 */
public final class EventStreams {

  private final PrefixIndex index;
  private final RecoverySource source;
  private final StreamLimits limits;
  private final StreamCounters counters = new StreamCounters();
  private final ConcurrentHashMap<RankId, RankStream> streams = new ConcurrentHashMap<>();

  /**
   * Streams into an index.
   *
   * @param index what learns from them; it belongs to the caller, and is not to be changed by
   *     anybody else
   * @param source who is asked for what got lost
   * @param limits how much may wait behind gaps
   */
  public EventStreams(PrefixIndex index, RecoverySource source, StreamLimits limits) {
    this.index = index;
    this.source = source;
    this.limits = limits;
  }

  /**
   * Takes an event.
   *
   * @param rank whose
   * @param eventId its number in the rank's sequence, unsigned
   * @param event what it says
   */
  public void onEvent(RankId rank, long eventId, BlockEvent event) {
    with(rank, stream -> stream.onEvent(eventId, event));
  }

  /**
   * Takes all that a rank holds, asked for or not.
   *
   * @param rank whose
   * @param lastEventId the last event that the contents account for, unsigned
   * @param contents the blocks, parents before children
   * @return false, and nothing is done, if later events have taken effect already
   */
  public boolean onSnapshot(RankId rank, long lastEventId, List<BlockEvent.Stored> contents) {
    boolean[] taken = new boolean[1];
    with(rank, stream -> taken[0] = stream.onDump(lastEventId, contents));
    return taken[0];
  }

  /**
   * Takes all that a rank holds after the last event that was heard of it.
   *
   * @param rank whose
   * @param contents the blocks, parents before children
   */
  public void onSnapshot(RankId rank, List<BlockEvent.Stored> contents) {
    with(rank, stream -> stream.onContents(contents));
  }

  /**
   * Forgets all ranks of a worker. O(ranks).
   *
   * @param workerId which; unknown ones are passed over
   */
  public void removeWorker(long workerId) {
    for (RankId rank : streams.keySet()) {
      if (rank.workerId() == workerId) {
        removeRank(rank);
      }
    }
  }

  /**
   * Forgets a rank, its numbers and what it held.
   *
   * @param rank which; unknown ones are passed over
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

  /** Asks the source again for every gap, whether it has answered or not: for a timer. O(ranks). */
  public void retryGaps() {
    streams.forEach(
        (rank, stream) -> {
          synchronized (stream) {
            stream.backoff().askSoon();
          }
          ask(rank, stream);
        });
  }

  /**
   * What has come so far. Not a snapshot of one instant while events arrive.
   *
   * @return the counts
   */
  public StreamStats stats() {
    return counters.stats();
  }

  private void with(RankId rank, Consumer<RankStream> use) {
    while (true) {
      RankStream stream =
          streams.computeIfAbsent(rank, id -> new RankStream(id, index, limits, counters));
      synchronized (stream) {
        if (stream.removed()) {
          continue;
        }
        use.accept(stream);
      }
      ask(rank, stream);
      return;
    }
  }

  /** The source may answer at once, and leave more to ask: that is why this is a loop. */
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

  /** Brings an answer to the stream that asked, if the engine has not restarted since. */
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
