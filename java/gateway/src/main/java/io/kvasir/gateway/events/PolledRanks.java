package io.kvasir.gateway.events;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.index.EventStreams;
import io.kvasir.fleet.wire.RankEvents;
import io.kvasir.fleet.wire.StoredListener;
import io.kvasir.fleet.wire.TrtllmEventJson;
import io.kvasir.fleet.wire.WireListener;
import io.kvasir.model.RankId;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The ranks of a TensorRT-LLM worker whose events are polled. An engine that starts over numbers
 * its events from 0 again. Events that were dropped or read by another reader are gone.
 *
 * <p>Each rank numbers its events. Until two ranks have used the same number, the worker may also
 * number the events of all ranks together.
 *
 * <p>Confined to the thread of the {@link EventPump}, except for the reports.
 */
final class PolledRanks implements TrtllmEventJson.Sink {

  private static final Logger LOG = LoggerFactory.getLogger(PolledRanks.class);
  private static final int NONE = -1;

  /** How long the events count as going on after the last answer. */
  private static final long PROOF_NS = TimeUnit.SECONDS.toNanos(10);

  private final EventStreams streams;
  private final AppliedListener applied;
  private final TrtllmEventJson json;
  private final Rank[] ranks;

  /** Takes the events of ranks that the worker is not known to have. */
  private final RankEvents other;

  private int current;
  private long lastOfAll = NONE;
  private boolean numberedApart;
  private volatile boolean damaged;
  private long answeredNs;
  private boolean answered;
  private boolean proven = true;

  private static final class Rank {
    final RankId id;
    final RankEvents events;
    long last = NONE;

    /** The number for the streams: one more for each event, two more behind a gap. */
    long number = NONE;

    long batches;
    volatile long gaps;
    volatile FeedStatus status = FeedStatus.NONE;

    Rank(RankId id, RankEvents events) {
      this.id = id;
      this.events = events;
    }
  }

  PolledRanks(
      long workerId,
      int count,
      int tokensPerBlock,
      EventStreams streams,
      @Nullable StoredListener listener,
      AppliedListener applied) {
    this.streams = streams;
    this.applied = applied;
    this.json = new TrtllmEventJson(tokensPerBlock);
    this.other = new RankEvents(tokensPerBlock, null);
    this.ranks = new Rank[count];
    for (int i = 0; i < count; i++) {
      ranks[i] = new Rank(new RankId(workerId, i), new RankEvents(tokensPerBlock, listener));
    }
  }

  int count() {
    return ranks.length;
  }

  RankId id(int of) {
    return ranks[of].id;
  }

  /** Whether the worker's last answer is recent, or it has never answered. */
  boolean isProven() {
    return proven;
  }

  /** Takes TensorRT-LLM's list of events in JSON; null if there was no answer. */
  void onAnswer(byte @Nullable [] answer, long nowNs) {
    if (answer != null) {
      answered = true;
      answeredNs = nowNs;
    }
    proven = !answered || nowNs - answeredNs < PROOF_NS;
    FeedState state =
        answer != null ? FeedState.LIVE : proven ? FeedState.SILENT : FeedState.DISCONNECTED;
    try {
      if (answer != null && !json.read(answer, 0, answer.length, this)) {
        damaged = true;
      }
    } catch (RuntimeException e) {
      LOG.error("the polled events of {} cannot be applied; it starts over", ranks[0].id, e);
      for (Rank rank : ranks) {
        startOver(rank);
      }
    }
    for (Rank rank : ranks) {
      rank.status = new FeedStatus(state, rank.last, rank.batches, 0, 0, 0, 0, 0);
    }
  }

  private void startOver(Rank rank) {
    streams.removeRank(rank.id);
    rank.events.take();
    rank.events.reset();
    rank.last = NONE;
    rank.number = NONE;
    lastOfAll = NONE;
    damaged = false;
  }

  @Override
  public WireListener begin(int dpRank, long eventId) {
    current = Math.max(dpRank, 0);
    if (current >= ranks.length) {
      lastOfAll = Math.max(lastOfAll, eventId);
      return other;
    }
    Rank rank = ranks[current];
    if (eventId <= rank.last) {
      startOver(rank);
    }
    numberedApart |= eventId <= lastOfAll;
    boolean next =
        eventId == rank.last + 1 || (!numberedApart && eventId == lastOfAll + 1 && eventId > 0);
    rank.number += next ? 1 : 2;
    rank.last = eventId;
    rank.batches++;
    lastOfAll = Math.max(lastOfAll, eventId);
    return rank.events;
  }

  @Override
  public void end() {
    if (current >= ranks.length) {
      other.take();
      return;
    }
    Rank rank = ranks[current];
    List<BlockEvent> batch = rank.events.take();
    if (streams.onBatch(rank.id, rank.number, batch)) {
      applied.onApplied(rank.id, batch);
    }
  }

  /** Events of a rank are missing. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // written by one thread
  void onGap(int of) {
    if (of < ranks.length) {
      ranks[of].gaps++;
    }
  }

  /** A rank's event stream. Any thread. */
  FeedStatus status(int of) {
    return ranks[of].status;
  }

  /** A rank's report. Any thread. */
  RankReport report(int of, long blocks, long copies, boolean failed) {
    Rank rank = ranks[of];
    return new RankReport(
        failed ? rank.status.in(FeedState.FAILED) : rank.status,
        blocks,
        copies,
        rank.gaps,
        damaged,
        rank.events.upperBound(),
        rank.events.otherBlockSize(),
        -1,
        rank.events.skips());
  }
}
