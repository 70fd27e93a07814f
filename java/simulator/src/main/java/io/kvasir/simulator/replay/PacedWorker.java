package io.kvasir.simulator.replay;

import io.kvasir.engine.execute.AdpLoop;
import io.kvasir.fleet.router.EngineMetrics;
import io.kvasir.hash.HashedRequest;
import io.kvasir.simulator.fleet.BlockSink;
import io.kvasir.simulator.fleet.IteratedWorker;
import io.kvasir.simulator.workload.Arrivals;
import java.util.List;

/**
 * A worker in virtual time, and when its loop can continue.
 *
 * <p>Confined to the thread that drives the replay.
 */
final class PacedWorker implements IteratedWorker {

  private final ReplayWorker worker;
  private final AdpLoop loop;
  private final WorkerTally tally;
  private boolean waits = true;
  private long readyNs;

  PacedWorker(ReplayWorker worker, WorkerTally tally) {
    this.worker = worker;
    this.loop = worker.loop();
    this.tally = tally;
  }

  /** When it goes on by itself: at the end of its iteration, or never without a request. */
  long nextNs() {
    return waits ? Arrivals.NEVER : readyNs;
  }

  /** When something in it next ends without an iteration. */
  long nextWakeNs() {
    return worker.nextWakeNs();
  }

  /** When its last iteration ends or ended. */
  long readyNs() {
    return readyNs;
  }

  /** Whether it is in the middle of an iteration. */
  boolean iterating(long nowNs) {
    return !waits && readyNs > nowNs;
  }

  boolean idle() {
    return loop.idle();
  }

  boolean allRanksLost() {
    return loop.liveRanks() == 0;
  }

  void submit(HashedRequest request, long nowNs) {
    worker.submit(request);
    tally.onSubmitted();
    if (waits) {
      waits = false;
      readyNs = nowNs;
    }
  }

  /** Tells what has ended by now; who waited for a transfer's end goes on. */
  void tellEnds(long nowNs) {
    if (worker.wake(nowNs) && waits && !loop.idle()) {
      waits = false;
      readyNs = nowNs;
    }
    tally.tellEnds(nowNs);
  }

  @Override
  public void drainBlocks(BlockSink sink) {
    worker.drainBlocks(sink);
  }

  @Override
  public EngineMetrics metrics() {
    return worker.metrics(tally.waitingRequests());
  }

  /** Begins an iteration and tells what has ended by a moment. */
  void goOn(long nowNs, long untilNs) {
    long durationNs = loop.idle() ? 0 : worker.iterate(nowNs);
    readyNs = nowNs + durationNs;
    boolean ended = tally.tellEnds(untilNs);
    waits = durationNs == 0 && !ended;
  }

  List<RankResult> ranks() {
    return worker.ranks(tally::rank);
  }
}
