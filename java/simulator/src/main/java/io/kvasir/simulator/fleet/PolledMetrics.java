package io.kvasir.simulator.fleet;

import io.kvasir.fleet.router.EngineMetrics;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Polls the metrics of all workers at a fixed interval; an answer arrives after a delay and shows
 * the metrics at the time of its poll.
 *
 * <p>Not thread-safe.
 */
final class PolledMetrics {

  private final long intervalNs;
  private final long delayNs;
  private final List<Deque<Published>> published = new ArrayList<>();
  private long polledNs = -1;

  /** Metrics that a poll returns from a time on. */
  private record Published(long fromNs, EngineMetrics metrics) {}

  /** Receives the answer of one worker. */
  interface Answer {
    void on(int worker, EngineMetrics metrics);
  }

  PolledMetrics(int workers, long intervalNs, long delayNs) {
    this.intervalNs = intervalNs;
    this.delayNs = delayNs;
    for (int i = 0; i < workers; i++) {
      published.add(new ArrayDeque<>());
    }
  }

  /** Publishes a worker's metrics from a time on; times of a worker must not decrease. */
  void publish(int worker, EngineMetrics metrics, long fromNs) {
    published.get(worker).add(new Published(fromNs, metrics));
  }

  /** Delivers the newest poll whose answer has arrived, unless it was delivered before. */
  void answer(long nowNs, Answer answer) {
    if (nowNs < delayNs) {
      return;
    }
    long lastNs = (nowNs - delayNs) / intervalNs * intervalNs;
    if (lastNs > polledNs) {
      polledNs = lastNs;
      for (int worker = 0; worker < published.size(); worker++) {
        answer.on(worker, atPoll(published.get(worker)));
      }
    }
  }

  /** The newest metrics at the time of the poll; kept for later polls. */
  private EngineMetrics atPoll(Deque<Published> all) {
    Published last = null;
    while (!all.isEmpty() && all.peek().fromNs() <= polledNs) {
      last = all.remove();
    }
    if (last == null) {
      return EngineMetrics.NONE;
    }
    all.addFirst(last);
    return last.metrics();
  }
}
