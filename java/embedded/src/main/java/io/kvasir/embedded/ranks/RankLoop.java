package io.kvasir.embedded.ranks;

import io.kvasir.embedded.api.ApiError;
import io.kvasir.embedded.api.SequenceListener;
import io.kvasir.embedded.publish.Faults;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.engine.pool.Occupancy;
import io.kvasir.exchange.UpstreamFailure;
import io.kvasir.hash.BlockHasher;
import io.kvasir.model.Threads;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that drives the worker in real time. An iteration's results are delivered when its
 * modelled duration, divided by the speed, has passed. Submissions and cancellations reach the
 * thread through a queue and take effect between iterations. Without requests the thread is parked.
 *
 * <p>Thread-safe. No method waits for an iteration, except {@link #close}.
 */
public final class RankLoop implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(RankLoop.class);

  /** Consecutive failed iterations after which the engine ends. */
  private static final int MAX_FAILURES = 3;

  /** How long the ranks wait if transfers keep the blocks that requests need. */
  private static final long CROWDED_NS = 1_000_000;

  private final double speed;
  private final int maxSequences;
  private final AtomicInteger reserved = new AtomicInteger();
  private final AtomicInteger turns = new AtomicInteger();
  private final RankMeters meters;
  private final SequenceEvents events;
  private final RankWorker worker;
  private final @Nullable ReportedSteps steps;
  private final Thread thread;

  private final Queue<Command> inbox = new ConcurrentLinkedQueue<>();
  private volatile boolean parked;
  private volatile boolean closing;
  private volatile @Nullable String unavailable;

  /** Set before the last commands are taken from the inbox. */
  private volatile boolean ended;

  private int failures;

  /** What the loop's thread has to do between iterations. */
  private interface Command {
    void run();

    /** Takes the place of {@link #run} once the loop has ended; any thread. */
    void abort();
  }

  /**
   * Starts the thread.
   *
   * @param settings the engine's settings
   * @param place where the ranks' pools are
   * @param faults change what is reported
   * @param hasher hashes blocks
   * @param feeds follow the ranks' blocks, one each, or there are none
   * @param steps follow the ranks' steps; null for none
   * @param maxHolds most transfers that keep blocks of a rank at the same time; 0 without legs
   */
  public RankLoop(
      EmbeddedSettings settings,
      RankPools.Place place,
      Faults faults,
      BlockHasher hasher,
      List<BlockFeed> feeds,
      @Nullable ReportedSteps steps,
      int maxHolds) {
    this.speed = settings.speed();
    this.maxSequences = settings.maxQueuedRequests();
    this.meters = new RankMeters(settings.ranks());
    this.events = new SequenceEvents(meters, faults, count -> reserved.addAndGet(-count), feeds);
    this.worker =
        new RankWorker(
            settings, place, hasher, events::answer, events, feeds, steps, meters, maxHolds);
    this.steps = steps;
    this.thread = new Thread(this::run, "kvasir-ranks");
    thread.setDaemon(true);
    thread.start();
  }

  /** Why no request can be served, or null. */
  @Nullable String unavailable() {
    return unavailable;
  }

  /** {@return whether the loop is closed} */
  public boolean isClosed() {
    return closing;
  }

  /** {@return the counts of sequences and tokens} */
  public RankMeters meters() {
    return meters;
  }

  /**
   * The occupancy of a rank's pool.
   *
   * @throws IllegalStateException if the loop is closed
   */
  Occupancy occupancy(int rank) {
    return worker.occupancy(rank);
  }

  /**
   * Reserves room for sequences that {@link #submit} will receive.
   *
   * @return false if there is not enough room; nothing is reserved
   */
  boolean reserve(int sequences) {
    int before = reserved.get();
    while (before + (long) sequences <= maxSequences) {
      if (reserved.compareAndSet(before, before + sequences)) {
        return true;
      }
      before = reserved.get();
    }
    return false;
  }

  /** Submits sequences for which room is reserved. */
  void submit(List<Sequence> sequences) {
    post(
        new Command() {
          @Override
          public void run() {
            sequences.forEach(RankLoop.this::enter);
          }

          @Override
          public void abort() {
            SequenceListener listener = sequences.get(0).listener();
            UpstreamFailure failure = closed();
            SequenceEvents.execute(listener.loop(), () -> listener.onAborted(failure));
          }
        });
  }

  private void enter(Sequence sequence) {
    events.add(sequence);
    KvLeg leg = sequence.leg();
    if (leg == null || leg.onEntered(new LegSequence(this, sequence), worker)) {
      submit(sequence);
    } else {
      sequence.withLeg = true;
      meters.move(sequence, Sequence.Stage.PLACED, sequence.request().request().targetRank());
    }
  }

  private void submit(Sequence sequence) {
    try {
      worker.submit(sequence.request());
    } catch (IllegalArgumentException e) {
      events.fail(sequence, ApiError.of(ApiError.INTERNAL, "not_submitted", "" + e.getMessage()));
    }
  }

  /** Cancels sequences; those that have ended are ignored. */
  void cancel(List<Sequence> sequences) {
    onWorker(worker -> sequences.forEach(this::cancel), () -> {});
  }

  private void cancel(Sequence sequence) {
    if (sequence.withLeg) {
      events.drop(sequence);
    } else {
      worker.cancel(sequence.id());
    }
  }

  /** Lets a sequence run whose leg has it; ignored if it has ended. */
  void runLeg(Sequence sequence) {
    onWorker(
        worker -> {
          if (sequence.withLeg && events.has(sequence)) {
            sequence.withLeg = false;
            submit(sequence);
          }
        },
        () -> {});
  }

  /** Ends a sequence whose leg has it; ignored if it has ended. */
  void endLeg(Sequence sequence, @Nullable ApiError error) {
    onWorker(
        worker -> {
          if (error == null) {
            events.answer(sequence);
          } else {
            events.fail(sequence, error);
          }
        },
        () -> {});
  }

  /** The live rank with the fewest sequences; with equal ones, they take turns. */
  int leastLoaded() {
    int ranks = meters.ranks();
    int first = Math.floorMod(turns.getAndIncrement(), ranks);
    int best = first;
    for (int i = 0; i < ranks; i++) {
      int rank = (first + i) % ranks;
      if (!meters.isRetired(rank)
          && (meters.isRetired(best) || meters.load(rank) < meters.load(best))) {
        best = rank;
      }
    }
    return best;
  }

  /**
   * Retires a rank, for example because its device is unhealthy.
   *
   * @param rank the rank
   * @param reason why, for the log
   */
  public void retire(int rank, String reason) {
    onWorker(worker -> worker.retire(rank, reason), () -> {});
  }

  /**
   * Runs a task between two iterations, on the loop's thread.
   *
   * @param task the task
   * @param aborted runs in its place once the loop has ended; any thread
   */
  public void onWorker(Consumer<RankWorker> task, Runnable aborted) {
    post(
        new Command() {
          @Override
          public void run() {
            task.accept(worker);
          }

          @Override
          public void abort() {
            aborted.run();
          }
        });
  }

  private void post(Command command) {
    inbox.add(command);
    if (parked) {
      LockSupport.unpark(thread);
    }
    if (ended) {
      abortInbox();
    }
  }

  private void run() {
    try {
      while (!closing) {
        boolean any = runInbox();
        if (any || !worker.idle() || !worker.settle()) {
          iterate();
        } else {
          park();
        }
      }
    } catch (RuntimeException | Error e) {
      LOG.error("The engine ends", e);
      unavailable = "the engine has failed: " + e;
    } finally {
      end();
    }
  }

  private boolean runInbox() {
    boolean any = false;
    for (Command next = inbox.poll(); next != null; next = inbox.poll()) {
      next.run();
      any = true;
    }
    return any;
  }

  private void abortInbox() {
    for (Command next = inbox.poll(); next != null; next = inbox.poll()) {
      next.abort();
    }
  }

  /** Computes an iteration, waits for its end, and delivers its results. */
  private void iterate() {
    long startNs = System.nanoTime();
    long durationNs = 0;
    try {
      durationNs = worker.iterate(startNs);
      failures = 0;
    } catch (RuntimeException e) {
      if (worker.holds().crowd(e, startNs)) {
        waitUntil(startNs + CROWDED_NS);
      } else {
        failures++;
        if (failures == MAX_FAILURES) {
          throw e;
        }
        LOG.warn("An iteration failed and is repeated", e);
      }
    }
    events.afterStep(this, worker);
    meters.onIteration();
    if (worker.liveRanks() == 0) {
      failAll();
    }
    waitUntil(startNs + (long) (durationNs / speed));
    if (steps != null) {
      steps.publish(durationNs);
    }
    worker.drainBlocks();
    events.deliver();
  }

  private void failAll() {
    String reason = "all ranks are retired";
    unavailable = reason;
    events.ids().forEach(worker::cancel);
    events.failAll(ApiError.of(ApiError.UNAVAILABLE, "no_live_rank", reason));
  }

  private void waitUntil(long endNs) {
    for (long leftNs = endNs - System.nanoTime();
        leftNs > 0 && !closing;
        leftNs = endNs - System.nanoTime()) {
      LockSupport.parkNanos(this, leftNs);
      Thread.interrupted(); // an interrupt has no meaning here, and would keep it from parking
    }
  }

  private void park() {
    parked = true;
    if (inbox.isEmpty() && !closing) {
      LockSupport.park(this);
      Thread.interrupted();
    }
    parked = false;
  }

  private void end() {
    ended = true;
    try {
      events.abortAll(closed());
      events.deliver();
      abortInbox();
    } finally {
      worker.close();
    }
  }

  private UpstreamFailure closed() {
    String reason = unavailable;
    return new UpstreamFailure(
        UpstreamFailure.Kind.CLOSED, reason == null ? "the engine is closed" : reason);
  }

  /**
   * Aborts all requests, waits for the end of the thread, and closes the pools. Repeated calls have
   * no effect.
   */
  @Override
  public void close() {
    closing = true;
    LockSupport.unpark(thread);
    Threads.join(thread);
  }
}
