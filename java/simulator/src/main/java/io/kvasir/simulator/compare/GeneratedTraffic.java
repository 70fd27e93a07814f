package io.kvasir.simulator.compare;

import io.kvasir.simulator.workload.Agentic;
import io.kvasir.simulator.workload.ClosedLoop;
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
    public Traffic of(Load load) {
      int ranks = load.ranks();
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
    public Traffic of(Load load) {
      int ranks = load.ranks();
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
    public Traffic of(Load load) {
      return single(load.ranks(), 500, 8_000, new LognormalTokens(2_000, 1.0));
    }
  },
  /** Single requests that have nothing in common. */
  UNIFORM {
    @Override
    public Traffic of(Load load) {
      return single(load.ranks(), 0, 0, new LognormalTokens(4_000, 1.0));
    }
  },
  /**
   * Prompts of 7,000 tokens, half of which is one of 10 prefixes, and answers of 200, in a loop.
   */
  CLOSED_LOOP {
    @Override
    public Traffic of(Load load) {
      return loop(load, 0, new IntRange(LOOP_ANSWER, LOOP_ANSWER));
    }
  },
  /** The same with varied lengths: sigma 0.5, and answers of 100 to 300 tokens. */
  CLOSED_LOOP_VARIED {
    @Override
    public Traffic of(Load load) {
      return loop(load, 0.5, new IntRange(LOOP_ANSWER / 2, LOOP_ANSWER * 3 / 2));
    }
  };

  private static final IntRange ANSWERS = new IntRange(50, 500);
  private static final int REQUESTS_PER_RANK = 500;
  private static final double REQUESTS_PER_SECOND = 5;
  private static final int LOOP_REQUESTS_PER_RANK = 250;
  private static final int LOOP_PREFIXES = 10;
  private static final int LOOP_HALF_PROMPT = 3_500;
  private static final int LOOP_ANSWER = 200;

  /** {@return the name in options and reports, for example {@code multi_turn}} */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** {@return whether the load is a number of requests in flight} */
  public boolean isClosed() {
    return this == CLOSED_LOOP || this == CLOSED_LOOP_VARIED;
  }

  /**
   * {@return the workload for a load}
   *
   * @param load a {@link Load.InFlight} for closed loops, else a {@link Load.Share}; there are more
   *     requests for more ranks
   */
  public abstract Traffic of(Load load);

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

  Traffic loop(Load load, double sigma, IntRange answers) {
    int requests = LOOP_REQUESTS_PER_RANK * load.ranks();
    int inFlight = ((Load.InFlight) load).requests();
    Traffic.Source source =
        (speed, seed) ->
            new ClosedLoop(
                new SharedPrefix(
                    new SharedPrefix.Shape(
                        requests,
                        LOOP_PREFIXES,
                        LOOP_HALF_PROMPT,
                        0,
                        new LognormalTokens(LOOP_HALF_PROMPT, sigma),
                        answers,
                        0,
                        seed)),
                inFlight);
    return new Traffic(id(), id() + " " + inFlight, source, source, Traffic.AFTER_ANSWERS);
  }
}
