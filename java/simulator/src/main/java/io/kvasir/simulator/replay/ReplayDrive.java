package io.kvasir.simulator.replay;

import io.kvasir.hash.HashedRequest;
import io.kvasir.simulator.workload.Arrivals;
import java.util.List;

/**
 * The loop of virtual time. The clock jumps from one event to the next: an arrival, or the end of
 * an instance's iteration, of a transfer or of an answer. Instances iterate at their own pace. At
 * one moment things happen in this order: ends of requests, instance by instance; arrivals; new
 * iterations, instance by instance.
 *
 * <p>Confined to one thread.
 *
 * @param instances the instances
 * @param serve chooses among them
 * @param arrivals who asks
 * @param metrics counts
 */
record ReplayDrive(
    List<PacedWorker> instances, ServeLayer serve, Arrivals arrivals, ReplayMetrics metrics) {

  private static final int ROUNDS_PER_PROGRESS = 256;

  /** Drives to the end; returns the time then. */
  long toEnd(ReplayProgress progress, long planned) {
    long nowNs = 0;
    for (long round = 0; ; round++) {
      for (PacedWorker instance : instances) {
        instance.tellEnds(nowNs);
      }
      submitUntil(nowNs);
      if (round % ROUNDS_PER_PROGRESS == 0) {
        progress.at(metrics.settled(), planned, nowNs);
      }
      goOn(nowNs);
      long nextNs = nextNs(nowNs);
      if (nextNs == Arrivals.NEVER) {
        break;
      }
      nowNs = Math.max(nowNs, nextNs);
    }
    progress.at(metrics.settled(), planned, nowNs);
    if (!instances.stream().allMatch(PacedWorker::idle)) {
      throw new IllegalStateException("requests are left that no rank will ever run");
    }
    return nowNs;
  }

  private void submitUntil(long nowNs) {
    for (long dueNs = arrivals.nextNs(); dueNs <= nowNs; dueNs = arrivals.nextNs()) {
      HashedRequest request = arrivals.next();
      metrics.onArrived(request.request(), dueNs);
      ServeLayer.Served served = serve.serve(request, nowNs);
      instances.get(served.instance()).submit(served.request(), nowNs);
    }
  }

  /** A single instance has nobody to keep its results from. */
  private boolean single() {
    return instances.size() == 1;
  }

  private void goOn(long nowNs) {
    for (int i = 0; i < instances.size(); i++) {
      PacedWorker instance = instances.get(i);
      if (instance.nextNs() <= nowNs) {
        instance.goOn(nowNs, single() ? Arrivals.NEVER : nowNs);
        requireLiveRanks(i);
        serve.onIterated(i, instance, instance.readyNs());
      }
    }
  }

  private long nextNs(long nowNs) {
    if (single() && instances.get(0).iterating(nowNs)) {
      return instances.get(0).nextNs();
    }
    long nextNs = arrivals.nextNs();
    for (PacedWorker instance : instances) {
      nextNs = Math.min(nextNs, Math.min(instance.nextNs(), instance.nextWakeNs()));
    }
    return nextNs;
  }

  private void requireLiveRanks(int index) {
    if (instances.get(index).allRanksLost()) {
      throw new IllegalStateException(
          "all ranks "
              + (single() ? "" : "of i" + index + " ")
              + "are lost; the replay ends with "
              + metrics.settled()
              + " of "
              + metrics.arrived()
              + " requests answered or rejected");
    }
  }
}
