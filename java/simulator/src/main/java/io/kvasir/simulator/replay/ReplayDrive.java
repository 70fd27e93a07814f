package io.kvasir.simulator.replay;

import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import io.kvasir.simulator.fleet.FleetLayer;
import io.kvasir.simulator.workload.Arrivals;
import java.util.List;

/**
 * The loop of virtual time. The clock jumps from one event to the next: an arrival, or the end of
 * an iteration, a transfer or an answer. Workers iterate independently. Events at the same time are
 * processed in this order: ends of requests, worker by worker; requests that waited; arrivals; new
 * iterations, worker by worker.
 *
 * <p>Confined to one thread.
 *
 * @param workers the workers
 * @param fleet chooses among the workers
 * @param arrivals the requests
 * @param metrics collects the measurements
 * @param sight what routers see of the requests
 */
record ReplayDrive(
    List<PacedWorker> workers,
    FleetLayer fleet,
    Arrivals arrivals,
    ReplayMetrics metrics,
    Sight sight) {

  /** Rounds, or arrivals, between reports of progress. */
  private static final int PROGRESS_INTERVAL = 256;

  /** Runs to the end and returns the time at that point. */
  long toEnd(ReplayProgress progress, long planned) {
    DueWorkers due = new DueWorkers(workers);
    long nowNs = 0;
    long reported = 0;
    for (long round = 0; ; round++) {
      for (int worker : due.take(nowNs)) {
        workers.get(worker).reportEnds(nowNs);
        due.changed(worker);
      }
      settle(due, nowNs);
      submitUntil(due, nowNs);
      if (round % PROGRESS_INTERVAL == 0 || metrics.arrived() - reported >= PROGRESS_INTERVAL) {
        reported = metrics.arrived();
        progress.at(metrics.settled(), metrics.arrived(), planned, nowNs);
      }
      advance(due, nowNs);
      long nextNs = nextNs(due, nowNs);
      if (nextNs == Arrivals.NEVER) {
        break;
      }
      nowNs = Math.max(nowNs, nextNs);
    }
    progress.at(metrics.settled(), metrics.arrived(), planned, nowNs);
    if (!workers.stream().allMatch(PacedWorker::idle) || metrics.settled() < metrics.arrived()) {
      throw new IllegalStateException("requests remain that no rank will ever run");
    }
    return nowNs;
  }

  private void submitUntil(DueWorkers due, long nowNs) {
    for (long dueNs = arrivals.nextNs(); dueNs <= nowNs; dueNs = arrivals.nextNs()) {
      HashedRequest arrived = arrivals.next();
      Request request = arrived.request();
      HashedRequest seen = sight.of(arrived);
      boolean foreign = sight.isForeign(request);
      metrics.onArrived(request, foreign, dueNs);
      FleetLayer.Routed routed =
          foreign
              ? new FleetLayer.Routed(sight.workerOf(request, workers.size()), seen)
              : fleet.route(seen, nowNs);
      if (routed != null) {
        submit(due, routed, nowNs);
      }
      settle(due, nowNs);
    }
  }

  /** Submits requests that have waited for the fleet layer, and reports those that it refused. */
  private void settle(DueWorkers due, long nowNs) {
    for (FleetLayer.Outcome outcome : fleet.outcomes(nowNs)) {
      FleetLayer.Routed routed = outcome.routed();
      if (routed == null) {
        metrics.onRejected(outcome.request(), outcome.reason(), nowNs);
      } else {
        submit(due, routed, nowNs);
      }
    }
    fleet.changed(due::changed);
  }

  private void submit(DueWorkers due, FleetLayer.Routed routed, long nowNs) {
    workers.get(routed.worker()).submit(routed.request(), nowNs);
    due.changed(routed.worker());
  }

  /** With a single worker there is no fleet layer from which to withhold results. */
  private boolean single() {
    return workers.size() == 1;
  }

  private void advance(DueWorkers due, long nowNs) {
    for (int i : due.take(nowNs)) {
      PacedWorker worker = workers.get(i);
      if (worker.nextNs() <= nowNs) {
        worker.advance(nowNs, single() ? Arrivals.NEVER : nowNs);
        requireLiveRanks(i);
        fleet.onIterated(i, worker, worker.readyNs());
      }
      due.changed(i);
    }
  }

  private long nextNs(DueWorkers due, long nowNs) {
    if (single() && workers.get(0).iterating(nowNs)) {
      return workers.get(0).nextNs();
    }
    return Math.min(due.nextNs(), Math.min(arrivals.nextNs(), fleet.nextNs()));
  }

  private void requireLiveRanks(int index) {
    if (workers.get(index).allRanksRetired()) {
      throw new IllegalStateException(
          "all ranks "
              + (single() ? "" : "of w" + index + " ")
              + "are retired; the replay ends with "
              + metrics.settled()
              + " of "
              + metrics.arrived()
              + " requests answered or rejected");
    }
  }
}
