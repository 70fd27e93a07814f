package io.kvasir.simulator.workload;

import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Checks;
import io.kvasir.model.Request;
import java.util.Map;

/**
 * A workload whose requests come in bursts: those of each period arrive together at its end, within
 * a tenth of its length. No request arrives before its time. The rate of requests that wait for no
 * answers stays the same; turns that do wait come once in a period at most.
 *
 * <p>Immutable.
 *
 * @param workload the requests
 * @param seconds length of a period, in seconds of the replay's time
 */
public record InBursts(Workload workload, double seconds) implements Workload {

  /** Longest period, a day. */
  public static final double MAX_SECONDS = 86_400;

  private static final int SHORTER = 10;

  /**
   * Checks the period.
   *
   * @throws IllegalArgumentException if it is not above 0, or above {@link #MAX_SECONDS}
   */
  public InBursts {
    Checks.within("bursts", seconds, 1e-3, MAX_SECONDS);
  }

  @Override
  public String name() {
    return workload.name();
  }

  @Override
  public Map<String, Object> parameters() {
    return Parameters.of(workload.parameters(), "burstSeconds", seconds);
  }

  @Override
  public long plannedRequests() {
    return workload.plannedRequests();
  }

  @Override
  public Arrivals start(RequestPreparation preparation) {
    return new Run(workload.start(preparation), Math.round(seconds * 1e9));
  }

  /** Later times stay later, so that requests keep their order. */
  private static long delayed(long ns, long periodNs) {
    return (ns / periodNs + 1) * periodNs + ns % periodNs / SHORTER;
  }

  private record Run(Arrivals arrivals, long periodNs) implements Arrivals {

    @Override
    public long nextNs() {
      long ns = arrivals.nextNs();
      return ns == NEVER ? NEVER : delayed(ns, periodNs);
    }

    @Override
    public HashedRequest next() {
      return arrivals.next();
    }

    @Override
    public void onFinished(Request request, int[] outputTokens, long nowNs) {
      arrivals.onFinished(request, outputTokens, nowNs);
    }

    @Override
    public void onRejected(Request request, long nowNs) {
      arrivals.onRejected(request, nowNs);
    }

    @Override
    public void close() {
      arrivals.close();
    }
  }
}
