package io.kvasir.fleet.router.projected;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.model.RankId;
import io.kvasir.timing.StepModels;
import io.kvasir.timing.StepTiming;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The steps of an engine's ranks, against a loop over all ranks for each step. */
class TogetherOracleTest {

  private static final long SEED = Long.getLong("kvasir.test.seed", 12);
  private static final long MS = 1_000_000;

  private final EngineRanks engine = new EngineRanks(new StepModels(StepTiming.DEFAULT), 0);
  private final List<RankForecast> ranks = new ArrayList<>();
  private final List<Attempt> attempts = new ArrayList<>();

  /** The same as {@link EngineRanks#togetherMs}, in O(ranks x steps). */
  private double slowMs(RankForecast rank, int steps, double stepMs, long nowNs) {
    long beganNs = Long.MAX_VALUE;
    long lastEndNs = Long.MIN_VALUE;
    for (RankForecast each : ranks) {
      beganNs = Math.min(beganNs, each.queueBeganNs());
      lastEndNs = Math.max(lastEndNs, each.endedNs());
    }
    int inProgress = rank.queueBeganNs() == Long.MAX_VALUE ? 1 : 0;
    double ms = 0;
    double first = 0;
    for (int step = 0; step < steps + inProgress; step++) {
      double longest = step < inProgress ? 0 : stepMs;
      for (RankForecast other : ranks) {
        if (other != rank) {
          longest = Math.max(longest, other.queueStepMs(step));
        }
      }
      first = step == 0 ? longest : first;
      ms += longest;
    }
    if (beganNs == Long.MAX_VALUE) {
      return ms;
    }
    double elapsedMs = (nowNs - Math.max(beganNs, lastEndNs)) / 1e6;
    return ms - Math.max(0, Math.min(elapsedMs, (1 - RankForecast.LEAST_LEFT) * first));
  }

  private void add(SplittableRandom random) {
    RankForecast made =
        new RankForecast(
            new RankId(0, ranks.size()), new LoadEstimate(), new ForecastInterval(), engine);
    made.limitStep(500L << random.nextInt(4));
    engine.add(made);
    ranks.add(made);
  }

  /** A prompt is placed or ends, on some rank. Many prompts are equal, so that times are. */
  private void change(SplittableRandom random, long nowNs) {
    if (attempts.isEmpty() || random.nextInt(3) > 0) {
      RankForecast on = ranks.get(random.nextInt(ranks.size()));
      int tokens = random.nextBoolean() ? 4_000 : 1 + random.nextInt(30_000);
      attempts.add(
          on.placed(
              tokens,
              0,
              1e9,
              Double.POSITIVE_INFINITY,
              100,
              random.nextBoolean(),
              true,
              null,
              nowNs));
    } else {
      Attempt attempt = attempts.remove(random.nextInt(attempts.size()));
      if (random.nextBoolean()) {
        attempt.rank.streamed(attempt, 1, nowNs);
      }
      attempt.rank.ended(attempt);
    }
  }

  @Test
  void theSameBitsAsALoopOverAllRanks() {
    SplittableRandom random = new SplittableRandom(SEED);
    long choice = 0;
    for (int count : new int[] {1, 2, 3, 40}) {
      while (ranks.size() < count) {
        add(random);
      }
      long nowNs = 0;
      for (int round = 0; round < 1_000; round++) {
        nowNs += random.nextInt(100) * MS;
        change(random, nowNs);
        engine.read(++choice);
        for (RankForecast rank : ranks) {
          int steps = 1 + random.nextInt(RankForecast.MOST_STEPS);
          double stepMs = random.nextDouble() * 200;
          assertThat(engine.togetherMs(rank, steps, stepMs, nowNs))
              .as("%d ranks, round %d, -Dkvasir.test.seed=%d", count, round, SEED)
              .isEqualTo(slowMs(rank, steps, stepMs, nowNs));
        }
      }
    }
  }
}
