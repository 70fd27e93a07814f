package io.kvasir.simulator.replay;

import io.kvasir.fleet.router.EngineMetrics;
import io.kvasir.hash.HashedRequest;
import io.kvasir.simulator.fleet.IteratedWorker;
import io.kvasir.simulator.fleet.WorkerBlockSink;
import io.kvasir.simulator.workload.Arrivals;
import java.util.List;

/**
 * A worker in virtual time, with the time at which its loop can continue.
 *
 * <p>Confined to the thread that drives the replay.
 */
final class PacedWorker implements IteratedWorker {

  private final ReplayWorker worker;
  private final WorkerTally tally;
  private boolean waits = true;
  private long readyNs;

  PacedWorker(ReplayWorker worker, WorkerTally tally) {
    this.worker = worker;
    this.tally = tally;
  }

  /** When its next iteration can start: at the end of the last one, or never without a request. */
  long nextNs() {
    return waits ? Arrivals.NEVER : readyNs;
  }

  /** When its next transfer or answer ends outside an iteration. */
  long nextWakeNs() {
    return worker.nextWakeNs();
  }

  /** When its last iteration ends or ended. */
  long readyNs() {
    return readyNs;
  }

  /** Whether an iteration is in progress. */
  boolean iterating(long nowNs) {
    return !waits && readyNs > nowNs;
  }

  boolean idle() {
    return worker.idle();
  }

  boolean allRanksRetired() {
    return worker.liveRanks() == 0;
  }

  void submit(HashedRequest request, long nowNs) {
    worker.submit(request);
    tally.onSubmitted();
    if (waits) {
      waits = false;
      readyNs = nowNs;
    }
  }

  /** Reports what has ended by now; the worker resumes if it was waiting for a transfer to end. */
  void reportEnds(long nowNs) {
    if (worker.wake(nowNs) && waits && !worker.idle()) {
      waits = false;
      readyNs = nowNs;
    }
    tally.reportEnds(nowNs);
  }

  @Override
  public void drainBlocks(WorkerBlockSink sink) {
    worker.drainBlocks(sink);
  }

  @Override
  public EngineMetrics metrics() {
    return worker.metrics(tally.waitingRequests());
  }

  /** Starts an iteration and reports what has ended by {@code untilNs}. */
  void advance(long nowNs, long untilNs) {
    long durationNs = worker.idle() ? 0 : worker.iterate(nowNs);
    readyNs = nowNs + durationNs;
    boolean ended = tally.reportEnds(untilNs);
    waits = durationNs == 0 && !ended;
  }

  List<RankResult> ranks() {
    return worker.ranks(tally::rank);
  }
}
