package io.kvasir.simulator.compare;

import io.kvasir.simulator.workload.Agentic;
import io.kvasir.simulator.workload.IntRange;
import io.kvasir.simulator.workload.LognormalTokens;
import io.kvasir.simulator.workload.MultiTurn;
import io.kvasir.simulator.workload.OpenLoop;
import io.kvasir.simulator.workload.SharedPrefix;
import io.kvasir.simulator.workload.Starts;
import io.kvasir.simulator.workload.ThinkTime;
import io.kvasir.simulator.workload.Workload;
import java.util.Locale;

/**
 * Generated workloads in the sizes in which routers are compared. Pools of 250,000 tokens are tight
 * for all of them, pools of 3,000,000 ample.
 */
public enum GeneratedTraffic {
  /** Chats: 3 to 12 turns behind a system prompt of 8,000 tokens. */
  MULTI_TURN {
    @Override
    public Traffic of(int ranks) {
      return sessions(
          0.2 * ranks,
          (starts, pace, seed) ->
              new MultiTurn(
                  new MultiTurn.Shape(
                      60 * ranks,
                      starts,
                      8_000,
                      new IntRange(3, 12),
                      new LognormalTokens(2_000, 1.0),
                      ANSWERS,
                      new ThinkTime(ThinkTime.Distribution.EXPONENTIAL, 10 / pace, 1),
                      seed)));
    }
  },
  /** Agents that call tools and start sub-agents. */
  AGENTIC {
    @Override
    public Traffic of(int ranks) {
      return sessions(
          0.005 * ranks,
          (starts, pace, seed) ->
              new Agentic(
                  new Agentic.Shape(
                      Math.max(200, 10 * ranks),
                      starts,
                      12_000,
                      new IntRange(20, 60),
                      new IntRange(200, 8_000),
                      new IntRange(2, 5),
                      new LognormalTokens(200, 1.0),
                      new IntRange(150, 300),
                      pace,
                      seed)));
    }
  },
  /** Single requests behind one of 500 prefixes of 8,000 tokens, some more popular than others. */
  SHARED_PREFIX {
    @Override
    public Traffic of(int ranks) {
      return single(ranks, 500, 8_000, new LognormalTokens(2_000, 1.0));
    }
  },
  /** Single requests that have nothing in common. */
  UNIFORM {
    @Override
    public Traffic of(int ranks) {
      return single(ranks, 0, 0, new LognormalTokens(4_000, 1.0));
    }
  };

  private static final IntRange ANSWERS = new IntRange(50, 500);
  private static final int REQUESTS_PER_RANK = 500;
  private static final double REQUESTS_PER_SECOND = 5;

  /** {@return the name in options and reports, for example {@code multi_turn}} */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * {@return the workload for a number of ranks}
   *
   * @param ranks number of ranks, at least 1; there are more requests for more of them
   */
  public abstract Traffic of(int ranks);

  /** Makes sessions. */
  @FunctionalInterface
  private interface Sessions {
    Workload of(Starts starts, double pace, long seed);
  }

  /**
   * Sessions, which start, and go on after answers, faster with the speed. They set the speed
   * themselves: what they cost depends on where they continue.
   */
  Traffic sessions(double perSecond, Sessions sessions) {
    Traffic.Source source =
        (speed, seed) -> sessions.of(new Starts.Open(perSecond * speed), speed, seed);
    return new Traffic(id(), id(), source, source, Traffic.AFTER_ANSWERS);
  }

  Traffic single(int ranks, int prefixes, int prefixTokens, LognormalTokens own) {
    int requests = REQUESTS_PER_RANK * Math.max(8, ranks);
    Traffic.Source source =
        (speed, seed) ->
            new OpenLoop(
                new SharedPrefix(
                    new SharedPrefix.Shape(
                        requests,
                        prefixes,
                        prefixTokens,
                        prefixes == 0 ? 0 : 1,
                        own,
                        ANSWERS,
                        REQUESTS_PER_SECOND,
                        seed)),
                speed);
    double lastArrivalNs = requests / REQUESTS_PER_SECOND * 1e9;
    return new Traffic(id(), id(), source, source, lastArrivalNs);
  }
}
