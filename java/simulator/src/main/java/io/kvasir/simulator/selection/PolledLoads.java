package io.kvasir.simulator.selection;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/**
 * The load of instances as somebody sees it who polls their metrics: all at once, every so often,
 * and what they answer takes its time. Until the next answer comes, what has been placed since is
 * counted on top; the answer replaces all of that, whether or not the engine knew of it.
 *
 * <p>Not thread-safe.
 */
final class PolledLoads {

  private final long intervalNs;
  private final long delayNs;
  private final List<Deque<Published>> published = new ArrayList<>();
  private final InstanceLoad[] seen;
  private long polledNs = -1;

  /** What a poll finds from a moment on. */
  private record Published(long fromNs, InstanceLoad load) {}

  /**
   * Instances without load.
   *
   * @param intervalNs time between polls, at least 1
   * @param delayNs time from a poll to its answer
   */
  PolledLoads(int instances, long intervalNs, long delayNs) {
    this.intervalNs = intervalNs;
    this.delayNs = delayNs;
    this.seen = new InstanceLoad[instances];
    Arrays.fill(seen, InstanceLoad.NONE);
    for (int i = 0; i < instances; i++) {
      published.add(new ArrayDeque<>());
    }
  }

  /** An instance has other metrics from now on. */
  void publish(int instance, InstanceLoad load, long nowNs) {
    published.get(instance).add(new Published(nowNs, load));
  }

  /** Takes the answers in that have come by now. */
  void update(long nowNs) {
    if (nowNs < delayNs) {
      return;
    }
    long lastNs = (nowNs - delayNs) / intervalNs * intervalNs;
    if (lastNs > polledNs) {
      polledNs = lastNs;
      for (int i = 0; i < seen.length; i++) {
        seen[i] = poll(published.get(i));
      }
    }
  }

  /** The newest metrics at the time of the poll. They stay, for the polls to come. */
  private InstanceLoad poll(Deque<Published> metrics) {
    InstanceLoad newest = InstanceLoad.NONE;
    Published last = null;
    while (!metrics.isEmpty() && metrics.peek().fromNs() <= polledNs) {
      last = metrics.remove();
      newest = last.load();
    }
    if (last != null) {
      metrics.addFirst(last);
    }
    return newest;
  }

  /** Counts what was placed until the next answer comes. */
  void place(int instance, int newBlocks) {
    InstanceLoad load = seen[instance];
    seen[instance] =
        new InstanceLoad(
            load.activeBlocks() + newBlocks, load.totalBlocks(), load.waitingRequests() + 1);
  }

  /** What is known of an instance. */
  InstanceLoad load(int instance) {
    return seen[instance];
  }
}
