package io.kvasir.timing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GroupTimingTest {

  private static final int RANKS = 8;

  /** A group of ranks: true times are the prior's times factors, and each rank has a speed. */
  private static final class Group {
    final GroupTiming timing = new GroupTiming(StepTiming.DEFAULT, RANKS);
    final StepTiming engine;
    final double[] speeds = new double[RANKS];
    final double noise;
    final Random random;
    double trueMs;
    double expectedMs;
    int slowest;

    Group(StepTiming engine, double noise, long seed) {
      this.engine = engine;
      this.noise = noise;
      this.random = new Random(seed);
      Arrays.fill(speeds, 1);
    }

    /** A step in which each rank decodes, and some prefill a part of a prompt. */
    void step() {
      trueMs = 0;
      expectedMs = 0;
      for (int rank = 0; rank < RANKS; rank++) {
        int decoding = 1 + random.nextInt(30);
        long kvTokens = decoding * (500L + random.nextInt(4_000));
        long tokens = random.nextInt(3) == 0 ? 1L + random.nextInt(8_000) : 0;
        double pairs = tokens * (random.nextInt(20_000) + tokens / 2.0);
        double ms = engine.decodeMs(kvTokens) + (tokens > 0 ? engine.prefillMs(pairs, tokens) : 0);
        if (speeds[rank] * ms > trueMs) {
          trueMs = speeds[rank] * ms;
          slowest = rank;
        }
        double expected = timing.decodeMs(decoding, kvTokens);
        expected += tokens > 0 ? timing.prefillMs(tokens, pairs, 1) : 0;
        expectedMs = Math.max(expectedMs, timing.factor(rank) * expected);
        timing.add(rank, tokens, pairs, decoding, kvTokens);
      }
      timing.end(trueMs * Math.exp(noise * random.nextGaussian()));
    }
  }

  private static StepTiming engine(double step, double token, double pair, double decode) {
    StepTiming prior = StepTiming.DEFAULT;
    return new StepTiming(
        pair * prior.prefillQuadratic(),
        token * prior.prefillLinear(),
        step * prior.prefillConstantMs(),
        decode * prior.decodeQuadratic(),
        decode * prior.decodeLinear(),
        decode * prior.decodeConstantMs(),
        decode * prior.decodeFloorMs(),
        prior.decodeKvTokens());
  }

  @Test
  void equalRanksHaveEqualTimesInSpiteOfNoise() {
    for (long seed = 0; seed < 5; seed++) {
      Group group = new Group(StepTiming.DEFAULT, 0.05, seed);
      int unequal = 0;
      for (int i = 0; i < 5_000; i++) {
        group.step();
        for (int rank = 0; rank < RANKS; rank++) {
          unequal += group.timing.factor(rank) == 1 ? 0 : 1;
        }
      }
      assertThat(unequal).as("seed " + seed).isLessThan(5_000 * RANKS / 50);
    }
  }

  @Test
  void exactTimesChangeNothing() {
    Group group = new Group(StepTiming.DEFAULT, 0, 1);
    for (int i = 0; i < 2_000; i++) {
      group.step();
      assertThat(group.expectedMs).isCloseTo(group.trueMs, within(1e-9));
    }
  }

  /** Coefficients wrong by up to three times, and a rank that is slow from the beginning. */
  @ParameterizedTest
  @CsvSource({
    "1,1,1,1,1",
    "0.3,3,1,2,1",
    "3,0.3,3,0.3,2",
    "3,3,3,3,1.5",
    "0.3,0.3,0.3,0.3,2",
    "1,2,0.3,3,2"
  })
  void recoversFromWrongPriors(double step, double token, double pair, double decode, double slow) {
    for (long seed = 0; seed < 5; seed++) {
      Group group = new Group(engine(step, token, pair, decode), 0.05, seed);
      group.speeds[3] = slow;
      double error = 0;
      int steps = 2_000;
      for (int i = 0; i < 2 * steps; i++) {
        group.step();
        error += i < steps ? 0 : Math.abs(group.expectedMs / group.trueMs - 1);
      }
      assertThat(error / steps).as("mean error, seed " + seed).isLessThan(0.05);
      assertThat(group.timing.factor(3) / group.timing.factor(0))
          .as("slow rank, seed " + seed)
          .isBetween(0.93 * slow, 1.07 * slow);
    }
  }

  @Test
  void noticesARankThatSlowsDown() {
    for (long seed = 0; seed < 10; seed++) {
      Group group = new Group(StepTiming.DEFAULT, 0.05, seed);
      for (int i = 0; i < 2_000; i++) {
        group.step();
      }
      group.speeds[5] = 2;
      int asSlowest = 0;
      while (group.timing.factor(5) < 1.7) {
        group.step();
        asSlowest += group.slowest == 5 ? 1 : 0;
        assertThat(asSlowest).as("steps as the slowest rank, seed " + seed).isLessThan(64);
      }
      for (int i = 0; i < 200; i++) {
        group.step();
      }
      assertThat(group.timing.factor(5)).as("seed " + seed).isBetween(1.85, 2.15);
      assertThat(group.timing.factor(0)).as("seed " + seed).isBetween(0.9, 1.1);
    }
  }

  @Test
  void aRankThatIsNotSeenForLongIsTakenForAnAverageOne() {
    Group group = new Group(StepTiming.DEFAULT, 0.05, 1);
    group.speeds[5] = 2;
    for (int i = 0; i < 1_000; i++) {
      group.step();
    }
    assertThat(group.timing.factor(5)).isGreaterThan(1.8);
    for (int i = 0; i < 6 * 4_200; i++) {
      group.timing.add(i % 5, 4_000, 0, 1, 4_000);
      group.timing.end(StepTiming.DEFAULT.prefillMs(0, 4_000) + StepTiming.DEFAULT.decodeMs(4_000));
    }
    assertThat(group.timing.factor(5)).isBetween(0.95, 1.06);
    assertThat(group.timing.factor(0)).isBetween(0.95, 1.06);
  }

  @Test
  void ignoresTheFirstStepsAndStepsThatWereNotMeasured() {
    GroupTiming timing = new GroupTiming(StepTiming.DEFAULT, 2);
    double before = timing.prefillMs(4_000, 0, 1);
    for (int i = 0; i < 20; i++) {
      timing.add(0, 4_000, 0, 0, 0);
      timing.end(900);
    }
    for (int i = 0; i < 20; i++) {
      timing.add(0, 4_000, 0, 0, 0);
      timing.end(0);
    }
    assertThat(timing.prefillMs(4_000, 0, 1)).isEqualTo(before);
    timing.add(0, 4_000, 0, 0, 0);
    timing.end(900);
    assertThat(timing.prefillMs(4_000, 0, 1)).isGreaterThan(before);
  }

  @Test
  void equalStepsGiveEqualDigestsAndOthersDoNot() {
    Group one = new Group(StepTiming.DEFAULT, 0.3, 1);
    Group same = new Group(StepTiming.DEFAULT, 0.3, 1);
    Group other = new Group(StepTiming.DEFAULT, 0.3, 2);
    for (int i = 0; i < 300; i++) {
      one.step();
      same.step();
      other.step();
      assertThat(one.timing.digest()).isEqualTo(same.timing.digest());
    }
    assertThat(one.timing.digest()).isNotEqualTo(other.timing.digest());
  }
}
