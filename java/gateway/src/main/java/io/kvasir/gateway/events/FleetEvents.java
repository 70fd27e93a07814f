package io.kvasir.gateway.events;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.index.CopyCounts;
import io.kvasir.fleet.index.EventStreams;
import io.kvasir.fleet.index.FirstNumber;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.index.RecoverySource;
import io.kvasir.fleet.index.StreamLimits;
import io.kvasir.fleet.index.StreamStats;
import io.kvasir.fleet.wire.RankEvents;
import io.kvasir.fleet.wire.SkipCause;
import io.kvasir.fleet.wire.StoredListener;
import io.kvasir.fleet.wire.WireDecoder;
import io.kvasir.model.RankId;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The block events of the ranks that serve one model: reads them, orders them, and applies them to
 * the index that the model's router matches by.
 *
 * <p>Thread-safe. The index changes on the thread of the {@link EventPump} only.
 */
public final class FleetEvents {

  private static final Logger LOG = LoggerFactory.getLogger(FleetEvents.class);

  /** Causes that leave it open what a skipped event has changed. */
  private static final Set<SkipCause> UNREADABLE =
      EnumSet.of(
          SkipCause.MALFORMED,
          SkipCause.WRONG_TYPE,
          SkipCause.TOO_LARGE,
          SkipCause.NESTED,
          SkipCause.TOKEN_COUNT);

  private final EventPump pump;
  private final CopyCounts copies;
  private final MutedRanks index;
  private final PrefixIndex confirmed;
  private final EventStreams streams;
  private final int tokensPerBlock;
  private final Map<RankId, Sink> sinks = new ConcurrentHashMap<>();
  private final Map<Long, PolledRanks> polled = new ConcurrentHashMap<>();

  /** Whether the index takes no changes any more. It still matches, so its ranks are hidden. */
  private volatile boolean failed;

  /** Confined to the pump's thread. */
  private final WireDecoder decoder = new WireDecoder();

  /**
   * Begins without ranks.
   *
   * @param pump receives the events
   * @param index what they change; hashed in the format {@code kvasir}; owned by the caller
   * @param tokensPerBlock block size of the index
   */
  public FleetEvents(EventPump pump, PrefixIndex index, int tokensPerBlock) {
    this.pump = pump;
    this.copies = new CopyCounts(index);
    this.index = new MutedRanks(copies);
    this.confirmed = index.confirmed();
    this.streams =
        new EventStreams(this.index, this::recover, StreamLimits.DEFAULT, FirstNumber.ZERO);
    this.tokensPerBlock = tokensPerBlock;
  }

  /**
   * Follows a rank from now on.
   *
   * @param spec where it publishes
   * @param listener sees stored blocks with their tokens, on the pump's thread; null for none
   * @param applied sees all events
   */
  public void addRank(FeedSpec spec, @Nullable StoredListener listener, AppliedListener applied) {
    removeRank(spec.rank());
    pump.add(spec, sink(spec.rank(), listener, applied));
  }

  /** A rank's way from bytes to the index. */
  BatchSink sink(RankId rank, @Nullable StoredListener listener, AppliedListener applied) {
    Sink sink = new Sink(rank, new RankEvents(tokensPerBlock, listener), applied);
    sinks.put(rank, sink);
    return sink;
  }

  /**
   * Follows the ranks of a worker whose events are polled.
   *
   * @param workerId the worker
   * @param ranks its ranks
   * @param listener sees stored blocks with their tokens, on the pump's thread; null for none
   * @param applied sees all events
   * @return takes what the worker answers to each poll. Ignores answers once the worker is removed
   */
  public EventPoll.Answers addPolled(
      long workerId, int ranks, @Nullable StoredListener listener, AppliedListener applied) {
    removePolled(workerId);
    PolledRanks added =
        new PolledRanks(workerId, ranks, tokensPerBlock, streams, listener, applied);
    polled.put(workerId, added);
    return (answer, next) ->
        pump.execute(
            () -> {
              try {
                if (polled.get(workerId) == added) {
                  onPolled(added, answer);
                }
              } finally {
                next.run();
              }
            });
  }

  private void onPolled(PolledRanks ranks, byte @Nullable [] answer) {
    if (!failed) {
      try {
        ranks.onAnswer(answer, pump.nowNs());
      } catch (RuntimeException | OutOfMemoryError e) {
        requireIndex(ranks.id(0), e);
      }
    }
    for (int rank = 0; rank < ranks.count(); rank++) {
      index.stop(ranks.id(rank), failed || !ranks.isProven());
    }
  }

  /** Something failed: ends the fleet's events if it was the index, and else throws it again. */
  private void requireIndex(RankId rank, Throwable cause) {
    try {
      index.handles(rank);
    } catch (IllegalStateException e) {
      failed = true;
      LOG.error(
          "The index of a model has failed: its requests are placed by load until a restart",
          cause);
      sinks.keySet().forEach(id -> index.stop(id, true));
      return;
    }
    if (cause instanceof Error error) {
      throw error;
    }
    throw (RuntimeException) cause;
  }

  /**
   * Follows a polled worker no longer, and forgets its blocks.
   *
   * @param workerId the worker; ignored if it was not added
   */
  public void removePolled(long workerId) {
    PolledRanks ranks = polled.remove(workerId);
    for (int rank = 0; ranks != null && rank < ranks.count(); rank++) {
      RankId id = new RankId(workerId, rank);
      pump.execute(() -> forget(id));
      index.mute(id, false);
    }
  }

  private void forget(RankId rank) {
    if (!failed) {
      streams.removeRank(rank);
    }
    index.stop(rank, failed);
  }

  /**
   * Follows a rank no longer, and forgets its blocks.
   *
   * @param rank the rank; ignored if unknown
   */
  public void removeRank(RankId rank) {
    Sink sink = sinks.remove(rank);
    if (sink != null) {
      pump.remove(sink);
      pump.execute(() -> forget(rank));
      index.mute(rank, false);
    }
  }

  /**
   * Forgets a rank's blocks: its engine has started over.
   *
   * @param rank the rank; ignored if unknown
   */
  public void startOver(RankId rank) {
    Sink sink = sinks.get(rank);
    if (sink != null) {
      pump.startOver(sink);
    }
  }

  /**
   * Keeps a rank from matching although its blocks are known, or no longer.
   *
   * @param rank the rank
   * @param muted whether it does not match
   */
  public void mute(RankId rank, boolean muted) {
    index.mute(rank, muted);
  }

  /**
   * {@return whether a rank's events arrive, and none is missing}
   *
   * @param rank the rank
   */
  public boolean isLive(RankId rank) {
    PolledRanks ranks = polled.get(rank.workerId());
    Sink sink = sinks.get(rank);
    FeedStatus feed =
        ranks != null && rank.dpRank() < ranks.count()
            ? ranks.status(rank.dpRank())
            : sink == null ? null : pump.status(sink);
    return feed != null && feed.state() == FeedState.LIVE && !failed;
  }

  /**
   * {@return what is known of a rank; null if it is not followed}
   *
   * @param rank the rank
   */
  public @Nullable RankReport report(RankId rank) {
    PolledRanks ranks = polled.get(rank.workerId());
    if (ranks != null && rank.dpRank() < ranks.count()) {
      return ranks.report(rank.dpRank(), blocks(rank), copies.copies(rank), failed);
    }
    Sink sink = sinks.get(rank);
    if (sink == null) {
      return null;
    }
    FeedStatus feed = pump.status(sink);
    FeedStatus known = feed == null ? FeedStatus.NONE : feed;
    return new RankReport(
        failed ? known.in(FeedState.FAILED) : known,
        blocks(rank),
        copies.copies(rank),
        sink.gaps,
        sink.untrusted,
        sink.events.upperBound(),
        sink.events.otherBlockSize(),
        sink.namedRank,
        sink.events.skips());
  }

  private long blocks(RankId rank) {
    return failed ? 0 : index.handles(rank);
  }

  /** {@return what the events so far say, without predictions} */
  public PrefixIndex index() {
    return confirmed;
  }

  /** {@return counts of all ranks together} */
  public StreamStats stats() {
    return streams.stats();
  }

  private void recover(
      RankId rank, long firstEventId, long lastEventId, RecoverySource.Answer answer) {
    PolledRanks ranks = polled.get(rank.workerId());
    Sink sink = sinks.get(rank);
    if (ranks != null) {
      ranks.onGap(rank.dpRank());
      answer.gone(); // polls give each event once
    } else if (sink == null || sink.feed == null) {
      answer.failed();
    } else {
      sink.onGap(firstEventId);
      sink.feed.recover(firstEventId, answer);
    }
  }

  /** Takes batches from their bytes to the index. */
  private final class Sink implements BatchSink {

    private final RankId rank;
    private final RankEvents events;
    private final AppliedListener applied;
    private @Nullable Feed feed;
    private volatile boolean untrusted;
    private volatile long gaps;
    private long lastGap = -1;
    private volatile int namedRank = -1;

    Sink(RankId rank, RankEvents events, AppliedListener applied) {
      this.rank = rank;
      this.events = events;
      this.applied = applied;
    }

    @Override
    public boolean onBatch(long number, byte[] payload, boolean last) {
      if (failed) {
        return true;
      }
      try {
        return read(number, payload, last);
      } catch (RuntimeException | OutOfMemoryError e) {
        requireIndex(rank, e);
        return true;
      }
    }

    private boolean read(long number, byte[] payload, boolean last) {
      long unreadable = unreadable();
      decoder.decode(payload, 0, payload.length, events);
      List<BlockEvent> batch = events.take();
      if (unreadable() != unreadable) {
        if (!last) {
          return false;
        }
        untrusted = true;
      }
      namedRank = events.batchRank();
      if (streams.onBatch(rank, number, batch)) {
        applied.onApplied(rank, batch);
      }
      return true;
    }

    /** Batches from a number on are missing; called again as long as they are. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // written by one thread
    void onGap(long firstNumber) {
      if (firstNumber != lastGap) {
        lastGap = firstNumber;
        gaps++;
      }
    }

    private long unreadable() {
      long sum = 0;
      for (SkipCause cause : UNREADABLE) {
        sum += events.skips().of(cause);
      }
      return sum;
    }

    @Override
    public void onRestart() {
      untrusted = false;
      lastGap = -1;
      events.reset();
      if (!failed) {
        try {
          streams.removeRank(rank);
        } catch (RuntimeException | OutOfMemoryError e) {
          requireIndex(rank, e);
        }
      }
    }

    @Override
    public void onProven(boolean proven) {
      index.stop(rank, failed || !proven);
    }

    @Override
    public void recoverFrom(Feed source) {
      feed = source;
    }

    @Override
    public void retry() {
      if (!failed) {
        streams.retryGap(rank);
      }
    }
  }
}
