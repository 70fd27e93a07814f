package io.kvasir.simulator.workload;

import java.util.Map;
import java.util.stream.IntStream;

/** When the sessions of a workload begin. Immutable. */
public sealed interface Starts {

  /**
   * {@return the start times, in nanoseconds, of the sessions that do not wait for another's end}
   *
   * @param sessions number of sessions
   * @param seed seed of random times
   */
  long[] firstNs(int sessions, long seed);

  /**
   * {@return the parameters for reports}
   *
   * @param sessions number of sessions
   */
  Map<String, Object> parameters(int sessions);

  /**
   * An open loop: sessions begin at random times.
   *
   * @param perSecond mean starts of sessions per second
   */
  record Open(double perSecond) implements Starts {

    @Override
    public long[] firstNs(int sessions, long seed) {
      return PoissonTimes.draw(sessions, perSecond, Content.ARRIVAL_TIMES.seed(seed, 0));
    }

    @Override
    public Map<String, Object> parameters(int sessions) {
      return Parameters.of(Map.of(), "sessions", sessions, "rate", perSecond);
    }
  }

  /**
   * A closed loop: a session begins when another ends.
   *
   * @param concurrency sessions at a time, at least 1
   * @param rampSeconds time over which the first sessions begin, one after another; 0 to begin all
   *     at once
   */
  record Closed(int concurrency, double rampSeconds) implements Starts {

    private static final double NS_PER_S = 1e9;

    @Override
    public long[] firstNs(int sessions, long seed) {
      int first = Math.min(concurrency, sessions);
      double stepNs = rampSeconds * NS_PER_S / first;
      return IntStream.range(0, first).mapToLong(index -> Math.round(index * stepNs)).toArray();
    }

    @Override
    public Map<String, Object> parameters(int sessions) {
      Map<String, Object> loop =
          Parameters.of(Map.of(), "sessions", sessions, "concurrency", concurrency);
      return rampSeconds > 0 ? Parameters.of(loop, "rampSeconds", rampSeconds) : loop;
    }
  }
}
