package io.kvasir.fleet.router.booking;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.load.ActiveSequences;
import io.kvasir.fleet.load.LoadExchange;
import io.kvasir.fleet.load.LoadMessage;
import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.fleet.load.ReplicatedLoads;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.HitCorrection;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.Refusal;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.model.RankId;
import io.kvasir.timing.ForwardPass;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Weighs what the ranks hold of a request against the load that they are predicted to have: matches
 * the request, reads the loads, lets a {@link RankSelector} choose and books the choice.
 *
 * <p>Thread-safe. The lock is held for O(blocks + ranks) and one call of the selector; hashing and
 * matching happen outside it. Listeners and futures run on the thread whose call completed them,
 * without the lock; they should be quick.
 */
public final class BookingRouter implements FleetRouter {

  private final String name;
  private final PromptMatches prompts;
  private final boolean readsTokens;
  private final PlacementListener listener;
  private final LoadAnnouncer announcer = new LoadAnnouncer();
  private final ActiveSequences sequences;
  private final RankChooser chooser;
  private final RequestQueue queue;
  private final QueueDispatcher dispatcher;
  private final RouterSteps steps;

  /**
   * Makes a router without ranks.
   *
   * @param name the policy's name
   * @param index what the ranks hold; the router closes it
   * @param selector chooses among the eligible ranks
   * @param options what counts as load, when ranks are overloaded, whether requests wait, whether
   *     placements are explained
   * @param setup how blocks are named, their size, and the clock
   */
  public BookingRouter(
      String name,
      PrefixIndex index,
      RankSelector selector,
      BookingOptions options,
      FleetRouterSetup setup) {
    this(name, index, selector, PlacementListener.NONE, options, setup);
  }

  /**
   * Makes a router without ranks whose selector learns.
   *
   * @param name the policy's name
   * @param index what the ranks hold; the router closes it
   * @param selector chooses among the eligible ranks
   * @param listener follows the placements
   * @param options what counts as load, when ranks are overloaded, whether requests wait, whether
   *     placements are explained
   * @param setup how blocks are named, their size, and the clock
   */
  public BookingRouter(
      String name,
      PrefixIndex index,
      RankSelector selector,
      PlacementListener listener,
      BookingOptions options,
      FleetRouterSetup setup) {
    this(name, index, selector, listener, options, setup, new ReentrantLock());
  }

  BookingRouter(
      String name,
      PrefixIndex index,
      RankSelector selector,
      PlacementListener listener,
      BookingOptions options,
      FleetRouterSetup setup,
      Lock lock) {
    this.name = Objects.requireNonNull(name, "name");
    this.prompts =
        new PromptMatches(Objects.requireNonNull(index, "index"), options.textTtlMs(), setup);
    this.readsTokens = options.readsTokens();
    this.listener = Objects.requireNonNull(listener, "listener");
    this.sequences =
        new ActiveSequences(setup.tokensPerBlock(), options.loads(), setup.clockNs(), this::ended);
    this.chooser =
        new RankChooser(
            sequences,
            setup.tokensPerBlock(),
            selector,
            listener,
            announcer,
            setup.clockNs(),
            options);
    this.queue = new RequestQueue(options.queue(), setup.clockNs().getAsLong());
    this.dispatcher = new QueueDispatcher(options.queue(), chooser, queue);
    this.steps = new RouterSteps(lock, prompts, sequences, dispatcher, setup);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public boolean readsTokens(FleetRequest request) {
    return readsTokens;
  }

  /**
   * Chooses a rank and books the request there. A request completes exactly once: it is placed,
   * refused, or taken out of the queue by cancelling its future. If it is cancelled while it is
   * being placed, its booking is undone.
   *
   * @throws IllegalArgumentException if its blocks have more tokens than its prompt
   */
  @Override
  public RouteOutcome route(FleetRequest request) {
    MatchedRequest matched = steps.match(request);
    CompletableFuture<RouteOutcome> future = new CompletableFuture<>();
    WaitingRequest waiting =
        steps.change(completions -> dispatcher.place(matched, steps.nowNs(), future, completions));
    if (waiting == null) {
      return future.join();
    }
    CompletableFuture<RouteOutcome> unused =
        future.whenComplete(
            (outcome, failure) -> {
              if (failure != null) {
                steps.locked(completions -> queue.leave(waiting));
              }
            });
    return new RouteOutcome.Waiting(future);
  }

  @Override
  public RouteOutcome preview(FleetRequest request) {
    MatchedRequest matched = steps.match(request);
    return steps.locked(
        completions -> {
          Refusal refusal = chooser.consider(matched);
          return refusal == null
              ? new RouteOutcome.Placed(chooser.preview(request))
              : new RouteOutcome.Refused(refusal);
        });
  }

  @Override
  public boolean onTokens(long attempt, int tokens) {
    return steps.change(completions -> pushed(attempt, tokens, sequences.push(attempt, tokens)));
  }

  /**
   * Output tokens have streamed, and blocks that they filled are known by name: other requests may
   * share them from now on. O(named blocks).
   *
   * @param attempt the attempt
   * @param tokens number of tokens, at least 1
   * @param sequenceHashes the blocks that are full and followed by a token, in order, from the
   *     first one that has no name yet
   * @param blocks number of hashes that count; 0 if the names are unknown
   * @return false if the attempt is not in flight
   * @throws IllegalArgumentException if {@code tokens} is below 1, or {@code blocks} is negative or
   *     more than there are
   */
  public boolean onTokens(long attempt, int tokens, long[] sequenceHashes, int blocks) {
    return steps.change(
        completions ->
            pushed(attempt, tokens, sequences.push(attempt, tokens, sequenceHashes, blocks)));
  }

  private boolean pushed(long attempt, int tokens, boolean inFlight) {
    if (inFlight) {
      listener.onTokens(attempt, tokens, steps.nowNs());
      announcer.prefillDone(attempt);
    }
    return inFlight;
  }

  private void ended(long attempt) {
    listener.onEnded(attempt);
    chooser.onEnded(attempt);
    announcer.ended(attempt);
  }

  @Override
  public boolean onPrefillDone(long attempt) {
    return steps.change(
        completions -> {
          boolean inFlight = sequences.prefillDone(attempt);
          if (inFlight) {
            listener.onPrefillDone(attempt, steps.nowNs());
            announcer.prefillDone(attempt);
          }
          return inFlight;
        });
  }

  @Override
  public boolean onAlive(long attempt) {
    return steps.locked(completions -> sequences.renew(attempt));
  }

  @Override
  public void onServed(long attempt, int cachedTokens) {
    steps.locked(
        completions -> {
          chooser.onServed(attempt, cachedTokens);
          return true;
        });
  }

  @Override
  public HitCorrection correction(long workerId) {
    return steps.locked(completions -> chooser.correction(workerId));
  }

  @Override
  public boolean onFinished(long attempt, boolean success) {
    return steps.change(completions -> sequences.free(attempt));
  }

  @Override
  public boolean addRank(RankId rank, RankCapacity capacity) {
    Objects.requireNonNull(capacity, "capacity");
    return steps.change(
        completions -> {
          listener.onAdded(rank);
          return chooser.addRank(rank, capacity);
        });
  }

  @Override
  public boolean removeRank(RankId rank) {
    boolean known =
        steps.change(
            completions -> {
              listener.onRemoved(rank);
              boolean removed = chooser.removeRank(rank);
              dispatcher.refuseUnservable(completions);
              return removed;
            });
    prompts.removeRank(rank);
    return known;
  }

  @Override
  public void onBlocks(RankId rank, BlockEvent event) {
    prompts.onBlocks(rank, event);
  }

  @Override
  public void onForwardPass(RankId rank, ForwardPass pass) {
    Objects.requireNonNull(pass, "pass");
    steps.locked(
        completions -> {
          if (chooser.knows(rank)) {
            listener.onForwardPass(rank, pass, steps.nowNs());
          }
          return true;
        });
  }

  @Override
  public PrefixIndex index() {
    return prompts.index();
  }

  /**
   * Changes when ranks are overloaded.
   *
   * @param thresholds the thresholds from now on
   */
  public void setBusyThresholds(BusyThresholds thresholds) {
    Objects.requireNonNull(thresholds, "thresholds");
    steps.change(
        completions -> {
          chooser.setBusyThresholds(thresholds);
          return true;
        });
  }

  /**
   * Ends attempts that have been silent for too long. To be called at intervals.
   *
   * @return number of attempts that ended
   */
  public int expireStale() {
    return steps.change(completions -> sequences.expireStale());
  }

  /**
   * Runs work on the predicted loads under the lock, for example on behalf of another router, and
   * then serves the queue. Ranks are added and removed by this router's own methods only.
   *
   * @param work the work; it must be quick and must not keep the loads
   * @param <T> its result
   * @return its result
   */
  public <T> T withLoads(Function<ActiveSequences, T> work) {
    return steps.change(completions -> work.apply(sequences));
  }

  /** Counts what other routers have placed like its own. */
  @Override
  public LoadExchange exchangeLoads(long routerId, Consumer<LoadMessage> out) {
    Objects.requireNonNull(out, "out");
    steps.locked(
        completions -> {
          announcer.reportTo(out);
          return true;
        });
    return new SharedLoads(steps, new ReplicatedLoads(routerId, sequences, steps::nowNs, out));
  }

  @Override
  public void loads(PredictedLoads out) {
    steps.locked(
        completions -> {
          sequences.loads(out);
          return true;
        });
  }

  /** {@return a snapshot of the requests that wait, and their prompt tokens} */
  public QueueDepth queueDepth() {
    return steps.locked(completions -> new QueueDepth(queue.size(), queue.tokens()));
  }

  @Override
  public void close() {
    prompts.close();
  }
}
