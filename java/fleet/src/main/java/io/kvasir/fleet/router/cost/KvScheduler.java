package io.kvasir.fleet.router.cost;

import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.index.RankMatches;
import io.kvasir.fleet.load.ActiveSequences;
import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.model.RankId;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * Gives each request its rank: matches it, reads the predicted loads, lets a {@link WorkerSelector}
 * choose and books the choice.
 *
 * <p>Thread-safe. Nothing blocks but for the lock, which is held for O(blocks + ranks) and one call
 * of the selector. Listeners and futures run on the thread whose call settled them, without the
 * lock; they should be quick.
 */
public final class KvScheduler {

  private final LongSupplier clockNs;
  private final ActiveSequences sequences;
  private final RankChooser chooser;
  private final SchedulerQueue line;
  private final QueueDispatcher service;
  private final SchedulerSteps steps;

  /**
   * Makes a scheduler without ranks.
   *
   * @param index what the ranks hold; the caller closes it
   * @param tokensPerBlock tokens of one block of that index, at least 1
   * @param selector chooses
   * @param options what counts as load, when ranks are overloaded, who waits, what is explained
   * @param hitRates is told of each dispatched request
   * @param clockNs a clock that does not go back, in nanoseconds
   * @throws IllegalArgumentException if {@code tokensPerBlock} is below 1
   */
  public KvScheduler(
      PrefixIndex index,
      int tokensPerBlock,
      WorkerSelector selector,
      KvSchedulerOptions options,
      Consumer<HitRateEvent> hitRates,
      LongSupplier clockNs) {
    this(index, tokensPerBlock, selector, options, hitRates, clockNs, new ReentrantLock());
  }

  KvScheduler(
      PrefixIndex index,
      int tokensPerBlock,
      WorkerSelector selector,
      KvSchedulerOptions options,
      Consumer<HitRateEvent> hitRates,
      LongSupplier clockNs,
      Lock lock) {
    this.clockNs = Objects.requireNonNull(clockNs, "clockNs");
    this.sequences = new ActiveSequences(tokensPerBlock, options.loads(), clockNs);
    this.chooser = new RankChooser(sequences, tokensPerBlock, selector, options);
    this.line = new SchedulerQueue(options.queue(), clockNs.getAsLong());
    this.service = new QueueDispatcher(options.queue(), chooser, line);
    this.steps =
        new SchedulerSteps(
            lock,
            Objects.requireNonNull(index, "index"),
            sequences,
            service,
            Objects.requireNonNull(hitRates, "hitRates"),
            clockNs);
  }

  /**
   * Adds a rank, or tells another capacity of one that is there.
   *
   * @param rank which
   * @param capacity what it can take
   */
  public void setRank(RankId rank, RankCapacity capacity) {
    Objects.requireNonNull(capacity, "capacity");
    steps.change(
        settled -> {
          chooser.setRank(rank, capacity);
          return true;
        });
  }

  /**
   * Forgets a rank, with all attempts there. Who waits for no other is refused.
   *
   * @param rank which; unknown ones are passed over
   * @return attempts that ended with it
   */
  public int removeRank(RankId rank) {
    return steps.change(
        settled -> {
          int ended = chooser.removeRank(rank);
          service.refuseUnservable(settled);
          return ended;
        });
  }

  /**
   * Changes when ranks are overloaded.
   *
   * @param thresholds from now on
   */
  public void setBusyThresholds(BusyThresholds thresholds) {
    Objects.requireNonNull(thresholds, "thresholds");
    steps.change(
        settled -> {
          chooser.setBusyThresholds(thresholds);
          return true;
        });
  }

  /**
   * Asks for a rank. Each request that is submitted is dispatched, refused or cancelled, exactly
   * once. Who is dispatched must be freed in the end.
   *
   * @param request who is to be served
   * @return the outcome; already there unless the request waits. Cancelling it while it waits takes
   *     the request out of the line
   * @throws IllegalArgumentException if its blocks have more tokens than its prompt
   */
  public CompletableFuture<SelectionOutcome> submit(SelectionRequest request) {
    RankMatches matches = steps.match(request);
    CompletableFuture<SelectionOutcome> future = new CompletableFuture<>();
    WaitingRequest waiting =
        steps.change(
            settled -> service.place(request, matches, clockNs.getAsLong(), future, settled));
    if (waiting != null) {
      CompletableFuture<SelectionOutcome> unused =
          future.whenComplete(
              (outcome, failure) -> {
                if (failure != null) {
                  steps.locked(settled -> line.leave(waiting));
                }
              });
    }
    return future;
  }

  /**
   * Takes a waiting request out of the line; its outcome is {@link SelectionOutcome.Cancelled}.
   *
   * @param requestId which
   * @return false if it does not wait
   */
  public boolean cancel(long requestId) {
    return steps.locked(
        settled -> {
          WaitingRequest waiting = line.find(requestId);
          return waiting != null
              && line.leave(waiting)
              && settled.add(
                  new SettledOutcome(
                      waiting.future(), new SelectionOutcome.Cancelled(waiting.request())));
        });
  }

  /**
   * Tokens streamed out. The first of them ends the attempt's prefill.
   *
   * @param attempt whose, see {@link CostDecision#attempt()}
   * @param tokens how many, at least 1
   * @return false if the attempt is not in flight
   * @throws IllegalArgumentException if {@code tokens} is below 1
   */
  public boolean push(long attempt, int tokens) {
    return steps.change(settled -> sequences.push(attempt, tokens));
  }

  /**
   * A prompt has been computed.
   *
   * @param attempt whose, see {@link CostDecision#attempt()}
   * @return false if the attempt is not in flight
   */
  public boolean prefillDone(long attempt) {
    return steps.change(settled -> sequences.prefillDone(attempt));
  }

  /**
   * An attempt has ended, for whatever reason. May be called again.
   *
   * @param attempt which, see {@link CostDecision#attempt()}
   * @return false if it is not in flight
   */
  public boolean free(long attempt) {
    return steps.change(settled -> sequences.free(attempt));
  }

  /**
   * Ends attempts of which nothing was heard for too long. To be called every now and then.
   *
   * @return how many
   */
  public int expireStale() {
    return steps.change(settled -> sequences.expireStale());
  }

  /**
   * Works on the predicted loads while nobody else does, for example on behalf of another router,
   * and then serves the line. Ranks come and go by this scheduler's own methods only.
   *
   * @param work what to do, quickly; the loads must not be kept
   * @param <T> what it yields
   * @return what it yields
   */
  public <T> T withLoads(Function<ActiveSequences, T> work) {
    return steps.change(settled -> work.apply(sequences));
  }

  /**
   * Tells the load of every rank. O(ranks).
   *
   * @param out is filled
   */
  public void loads(PredictedLoads out) {
    steps.locked(
        settled -> {
          sequences.loads(out);
          return true;
        });
  }

  /**
   * How many requests wait, and how many prompt tokens they have.
   *
   * @return a snapshot
   */
  public QueueDepth queueDepth() {
    return steps.locked(settled -> new QueueDepth(line.size(), line.tokens()));
  }
}
