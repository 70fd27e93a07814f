package io.kvasir.embedded.ranks;

import io.kvasir.embedded.api.ApiError;
import io.kvasir.embedded.api.SequenceListener;
import io.kvasir.embedded.api.Wakeup;
import io.kvasir.embedded.publish.Faults;
import io.kvasir.embedded.ranks.Sequence.Stage;
import io.kvasir.engine.adp.Decision;
import io.kvasir.engine.execute.RequestListener;
import io.kvasir.exchange.UpstreamFailure;
import io.kvasir.model.Request;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sequences in flight, and their events since the last delivery. {@link #deliver} passes all
 * events of an event loop to it as one task.
 *
 * <p>Confined to the loop's thread.
 */
public final class SequenceEvents implements RequestListener {

  private static final Logger LOG = LoggerFactory.getLogger(SequenceEvents.class);

  private final RankMeters meters;
  private final Faults faults;
  private final IntConsumer released;
  private final List<BlockFeed> feeds;
  private final Map<Long, Sequence> inFlight = new HashMap<>();
  private final List<Computed> computed = new ArrayList<>();
  private final IdentityHashMap<Executor, Wakeup> wakeups = new IdentityHashMap<>();

  /** A leg whose sequence has all its tokens. */
  @SuppressWarnings("ArrayRecordComponent") // not compared
  private record Computed(Sequence sequence, KvLeg leg, int rank, int[] outputTokens) {}

  /**
   * Creates it.
   *
   * @param meters receives counts
   * @param faults change what is reported
   * @param released receives the number of sequences that are not in flight any more
   * @param feeds receive committed blocks, one for each rank; none if they are not needed
   */
  SequenceEvents(RankMeters meters, Faults faults, IntConsumer released, List<BlockFeed> feeds) {
    this.meters = meters;
    this.faults = faults;
    this.released = released;
    this.feeds = feeds;
  }

  /** Adds a sequence that enters the waiting queue. */
  void add(Sequence sequence) {
    inFlight.put(sequence.id(), sequence);
    meters.move(sequence, Stage.QUEUED, -1);
  }

  /** Whether a sequence is in flight. */
  boolean has(Sequence sequence) {
    return inFlight.containsKey(sequence.id());
  }

  /** The answer of a sequence in flight. */
  Answer answer(long id) {
    return get(id).answer();
  }

  private Sequence get(long id) {
    Sequence sequence = inFlight.get(id);
    if (sequence == null) {
      throw new IllegalStateException("request " + id + " is not in flight");
    }
    return sequence;
  }

  /** Ids of all sequences in flight. */
  List<Long> ids() {
    return new ArrayList<>(inFlight.keySet());
  }

  @Override
  public void onPlaced(Decision decision, long nowNs) {
    Sequence sequence = get(decision.request().id());
    sequence.reason = decision.reason();
    meters.move(sequence, Stage.PLACED, decision.rank());
  }

  @Override
  public void onStarted(Request request, int rank, int cachedTokens, boolean resumed, long nowNs) {
    Sequence sequence = get(request.id());
    meters.move(sequence, Stage.RUNNING, rank);
    if (!resumed) {
      meters.onStarted(rank, request.promptTokens(), cachedTokens);
      KvLeg leg = sequence.leg();
      int cached = leg == null ? cachedTokens : leg.onStarted(cachedTokens);
      int reported = faults.engine().reportedHit(cached);
      SequenceListener.Start start =
          new SequenceListener.Start(rank, reported, sequence.reason.id());
      int choice = sequence.choice();
      post(sequence, listener -> listener.onStarted(choice, start));
    }
  }

  @Override
  public void onToken(Request request, int rank, int index, int token, long nowNs) {
    Sequence sequence = get(request.id());
    meters.onToken(rank, index, request.promptTokens());
    int choice = sequence.choice();
    post(sequence, listener -> listener.onToken(choice));
  }

  @Override
  public void onCommitted(
      Request request, int rank, int[] tokens, long[] sequenceHashes, int fromBlock, int toBlock) {
    if (!feeds.isEmpty()) {
      String salt = get(request.id()).salt();
      feeds.get(rank).onCommitted(salt, tokens, sequenceHashes, fromBlock, toBlock);
    }
  }

  @Override
  public void onPaused(Request request, int rank, long nowNs) {
    meters.onPaused(rank);
    meters.move(get(request.id()), Stage.PLACED, rank);
  }

  @Override
  public void onReturned(Request request, int rank, String reason, long nowNs) {
    meters.move(get(request.id()), Stage.QUEUED, -1);
  }

  @Override
  public void onFinished(Request request, int rank, int[] outputTokens, long nowNs) {
    Sequence sequence = get(request.id());
    meters.onFinished(rank);
    KvLeg leg = sequence.leg();
    if (leg == null) {
      answer(sequence);
    } else {
      meters.move(sequence, Stage.OUTSIDE, -1);
      sequence.withLeg = true;
      computed.add(new Computed(sequence, leg, rank, outputTokens));
    }
  }

  /** Passes the legs that were computed in a step to their legs. */
  void afterStep(RankLoop ranks, RankWorker worker) {
    for (Computed each : computed) {
      LegSequence sequence = new LegSequence(ranks, each.sequence);
      if (each.leg.onComputed(sequence, worker, each.rank, each.outputTokens)) {
        answer(each.sequence);
      }
    }
    computed.clear();
  }

  /** Ends a sequence that is computed. */
  void answer(Sequence sequence) {
    if (has(sequence)) {
      remove(sequence);
      int choice = sequence.choice();
      post(sequence, listener -> listener.onFinished(choice));
    }
  }

  /** Drops a sequence that its leg has. */
  void drop(Sequence sequence) {
    if (has(sequence)) {
      lose(sequence);
    }
  }

  @Override
  public void onRejected(Request request, String reason, long nowNs) {
    fail(get(request.id()), ApiError.of(ApiError.UNAVAILABLE, "rejected", reason));
  }

  @Override
  public void onCancelled(Request request, long nowNs) {
    Sequence sequence = inFlight.get(request.id());
    if (sequence != null) {
      lose(sequence);
    }
  }

  @Override
  public void onRankRetired(int rank, String reason, long nowNs) {
    meters.onRetired(rank);
  }

  /** Ends a sequence with an error. */
  void fail(Sequence sequence, ApiError error) {
    if (!has(sequence)) {
      return;
    }
    lose(sequence);
    post(sequence, listener -> listener.onFailed(error));
  }

  /** Ends all sequences with an error. */
  void failAll(ApiError error) {
    new ArrayList<>(inFlight.values()).forEach(sequence -> fail(sequence, error));
  }

  /** Ends a sequence because the engine ends. */
  void abort(Sequence sequence, UpstreamFailure failure) {
    lose(sequence);
    post(sequence, listener -> listener.onAborted(failure));
  }

  /** Ends all sequences because the engine ends. */
  void abortAll(UpstreamFailure failure) {
    new ArrayList<>(inFlight.values()).forEach(sequence -> abort(sequence, failure));
  }

  /** Removes a sequence that has no answer. */
  private void lose(Sequence sequence) {
    remove(sequence);
    KvLeg leg = sequence.leg();
    if (leg != null) {
      leg.onEnded();
    }
  }

  private void remove(Sequence sequence) {
    inFlight.remove(sequence.id());
    meters.move(sequence, Stage.OUTSIDE, -1);
    released.accept(1);
  }

  private void post(Sequence sequence, Consumer<SequenceListener> event) {
    SequenceListener listener = sequence.listener();
    wakeups.computeIfAbsent(listener.loop(), loop -> new Wakeup()).add(listener, event);
  }

  /** Passes the events since the last call to their event loops, one task for each. */
  void deliver() {
    wakeups.forEach(SequenceEvents::execute);
    wakeups.clear();
  }

  /**
   * Passes a task to an event loop; if that has ended, so have its requests.
   *
   * @param loop the event loop
   * @param task the task
   */
  public static void execute(Executor loop, Runnable task) {
    try {
      loop.execute(task);
    } catch (RejectedExecutionException e) {
      LOG.debug("An event loop has ended before its requests", e);
    }
  }
}
