package io.kvasir.timing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StepModelTest {

  private static final double NOISE = 0.1;

  /** An engine whose coefficients are the published ones times factors. */
  private record Engine(double step, double token, double pair, double decode) {

    double ms(long uncached, long context, long kvTokens) {
      return step * 16.50142
          + token * 1.518344e-2 * uncached
          + pair * 2 * 4.209989e-7 * uncached * (context + uncached / 2.0)
          + decode * Math.max(1, 5.74 + 54.01 * p(kvTokens) - 25.74 * p(kvTokens) * p(kvTokens));
    }

    private static double p(long kvTokens) {
      return Math.min(1, kvTokens / (double) (1 << 20));
    }
  }

  private static StepModel newModel() {
    return new StepModel(StepTiming.DEFAULT, 4);
  }

  @Test
  void expectsThePublishedTimesAtFirst() {
    StepModel model = newModel();

    assertThat(model.promptMs(4000, 1000, 1) + model.decodeMs(50_000))
        .isCloseTo(new Engine(1, 1, 1, 1).ms(4000, 1000, 50_000), within(1e-9));
  }

  /** Published coefficients that are wrong by up to three times, and ranks of two classes. */
  @ParameterizedTest
  @CsvSource({"0.3,3,1,2", "3,0.3,3,0.3", "3,3,3,3", "0.3,0.3,0.3,0.3", "1,2,0.3,3"})
  void recoversFromWrongPriors(double step, double token, double pair, double decode) {
    Engine engine = new Engine(step, token, pair, decode);
    double[] classes = {1, 1, 1.8, 1.8};
    for (long seed = 0; seed < 5; seed++) {
      Random random = new Random(seed);
      StepModel model = newModel();
      RankSpeed[] speeds = new RankSpeed[classes.length];
      for (int rank = 0; rank < speeds.length; rank++) {
        speeds[rank] = new RankSpeed();
      }
      double error = 0;
      double least = 0;
      for (int i = 0; i < 3_000; i++) {
        int rank = random.nextInt(classes.length);
        long uncached = 1L + random.nextInt(6_000);
        long context = random.nextInt(20_000);
        long kvTokens = 1L + random.nextInt(400_000);
        double exact = classes[rank] * engine.ms(uncached, context, kvTokens);
        double ms = exact * Math.exp(NOISE * random.nextGaussian());
        StepWork work = model.newWork();
        work.addPrompt(uncached, context);
        work.addSteps(1);
        work.addDecoding(1, kvTokens);
        if (i >= 1_000) {
          error += Math.abs(model.ms(work) * speeds[rank].factor() - ms) / ms;
          least += Math.abs(exact - ms) / ms;
        }
        model.learn(work, ms, speeds[rank]);
      }
      assertThat(error / least).as("seed " + seed).isLessThan(1.15);
    }
  }

  @Test
  void afterExactTimesAChangeIsFollowedToo() {
    StepModel model = newModel();
    RankSpeed speed = new RankSpeed();
    Engine engine = new Engine(1, 1, 1, 1);
    Random random = new Random(1);
    int later = 0;
    for (int i = 0; i < 5_000 || speed.factor() < 1.9; i++) {
      long uncached = 1L + random.nextInt(6_000);
      StepWork work = model.newWork();
      work.addPrompt(uncached, 0);
      work.addSteps(1);
      work.addDecoding(1, 10_000);
      int slow = i < 5_000 ? 1 : 2;
      model.learn(work, slow * engine.ms(uncached, 0, 10_000), speed);
      later += slow - 1;
    }
    assertThat(later).isLessThan(64);
  }

  @Test
  void noticesAThrottledRankAndNothingElse() {
    for (long seed = 0; seed < 10; seed++) {
      Random random = new Random(seed);
      StepModel model = newModel();
      RankSpeed[] speeds = {new RankSpeed(), new RankSpeed(), new RankSpeed(), new RankSpeed()};
      for (int i = 0; i < 4 * 1_000; i++) {
        learn(model, speeds[i % 4], 1, random);
      }
      for (RankSpeed speed : speeds) {
        assertThat(speed.factor()).as("seed " + seed).isBetween(0.9, 1.1);
      }
      for (int i = 0; i < 4 * 64; i++) {
        learn(model, speeds[i % 4], i % 4 == 2 ? 2 : 1, random);
      }
      assertThat(speeds[2].factor() / speeds[0].factor())
          .as("seed " + seed + ", 64 observations after it slowed down")
          .isBetween(1.7, 2.2);
      for (int rank : new int[] {0, 1, 3}) {
        assertThat(speeds[rank].factor()).as("seed " + seed).isBetween(0.75, 1.15);
      }
    }
  }

  /** A day with an observation each second. */
  @ParameterizedTest
  @ValueSource(doubles = {0.02, 0.1, 0.3})
  void hardlyEverTakesNoiseForAChange(double noise) {
    int alarms = 0;
    int days = 5;
    for (long seed = 0; seed < days; seed++) {
      Random random = new Random(seed);
      StepModel model = newModel();
      RankSpeed speed = new RankSpeed();
      for (int i = 0; i < 86_400; i++) {
        double ms = 50 * Math.exp(noise * random.nextGaussian());
        StepWork work = model.newWork();
        work.addPrompt(1_000 + random.nextInt(2), 0);
        work.addSteps(1);
        boolean changed = model.learn(work, ms, speed) == StepModel.Outcome.CHANGED;
        alarms += changed && i >= 100 ? 1 : 0; // the prior is wrong by half
      }
    }
    assertThat(alarms).as("in %d days", days).isLessThanOrEqualTo(days);
  }

  @Test
  void aWildTimeChangesLittle() {
    StepModel model = newModel();
    RankSpeed speed = new RankSpeed();
    Random random = new Random(1);
    for (int i = 0; i < 500; i++) {
      learn(model, speed, 1, random);
    }
    double before = speed.factor() * model.promptMs(4000, 0, 1);
    StepWork work = model.newWork();
    work.addPrompt(4000, 0);
    work.addSteps(1);
    model.learn(work, 60_000, speed);

    assertThat(speed.factor() * model.promptMs(4000, 0, 1)).isBetween(before, 1.1 * before);
  }

  /** One rank of eight reports wrong times, ten times as often as the others. */
  @ParameterizedTest
  @ValueSource(doubles = {0.01, 0.1, 10, 1000})
  void oneRanksTimesMoveNoOthers(double factor) {
    StepModel model = newModel();
    List<RankSpeed> speeds = Stream.generate(RankSpeed::new).limit(8).toList();
    Random random = new Random(1);
    double expected = newModel().promptMs(4_000, 0, 1);
    for (int i = 0; i < 40_000; i++) {
      int rank = i < 2_000 ? i % 8 : i % 17 < 10 ? 0 : 1 + random.nextInt(7);
      learn(model, speeds.get(rank), i >= 2_000 && rank == 0 ? factor : 1, random);
      if (i % 16 == 0) {
        model.centre(speeds);
      }
      if (i > 2_000) {
        assertThat(speeds.get(1).factor() * model.promptMs(4_000, 0, 1))
            .as("after " + i)
            .isCloseTo(expected, within(0.1 * expected));
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"1e-9, 1e9", "1e-9, 1e-9", "3.6e6, 3.6e6"})
  void trueTimesAfterAbsurdOnesAreLearnedSoon(double first, double second) {
    double[] absurd = {first, second};
    StepModel model = newModel();
    StepWork work = model.newWork();
    Random random = new Random(1);
    for (int i = 0; i < 52_000; i++) {
      long uncached = 1L + random.nextInt(8_000);
      work.clear();
      work.addPrompt(uncached, 0);
      work.addSteps(1);
      model.learn(work, i < 50_000 ? absurd[i % 2] : new Engine(1, 1, 1, 0).ms(uncached, 0, 1));
    }
    assertThat(model.promptMs(4_000, 0, 1) / newModel().promptMs(4_000, 0, 1))
        .isBetween(0.85, 1.15);
  }

  @ParameterizedTest
  @ValueSource(doubles = {1.0 / 30, 30, Double.POSITIVE_INFINITY, Double.NaN})
  void timesFarFromWhatIsExpectedAreCountedAndDropped(double factor) {
    StepModel model = newModel();
    StepWork work = model.newWork();
    work.addPrompt(4_000, 0);
    work.addSteps(1);
    double ms = model.ms(work);
    for (int i = 0; i < 1_500; i++) { // a third of all
      StepModel.Outcome outcome = model.learn(work, i % 3 == 0 ? factor * ms : ms);
      assertThat(outcome == StepModel.Outcome.DROPPED).as("after " + i).isEqualTo(i % 3 == 0);
    }
    assertThat(model.dropped()).isEqualTo(500);
    assertThat(model.ms(work)).isCloseTo(ms, within(1e-9 * ms));
  }

  @ParameterizedTest
  @ValueSource(doubles = {1.0 / 30, 30})
  void timesFarFromWhatIsExpectedAreLearnedOnceTheyAreTheMajority(double factor) {
    StepModel model = newModel();
    StepWork work = model.newWork();
    work.addPrompt(4_000, 0);
    work.addSteps(1);
    double ms = model.ms(work);
    for (int i = 0; i < 500; i++) {
      model.learn(work, factor * ms);
    }
    assertThat(model.dropped()).isBetween(10L, 40L);
    assertThat(model.ms(work) / ms).isCloseTo(factor, within(0.1 * factor));
  }

  @ParameterizedTest
  @ValueSource(doubles = {1e-9, 1e9})
  void aSpeedHasABound(double factor) {
    StepModel model = newModel();
    RankSpeed speed = new RankSpeed();
    Random random = new Random(1);
    for (int i = 0; i < 20_000; i++) {
      learn(model, speed, factor, random);
      assertThat(Math.abs(speed.location())).isLessThanOrEqualTo(4);
    }
    assertThat(Math.abs(speed.location())).isEqualTo(4);
  }

  /** Only prompts are observed, of ranks that have become slower together. */
  @ParameterizedTest
  @CsvSource({"0.01, 0", "0.3, 0", "-0.3, 0", "0.7, 0.7", "-0.7, -0.7"})
  void kindsThatAreNotSeenFollowChangesAndNoNoise(double median, double followed) {
    StepModel model = newModel();
    List<RankSpeed> speeds = Stream.generate(RankSpeed::new).limit(2).toList();
    StepWork work = model.newWork();
    work.addPrompt(4_000, 0);
    work.addSteps(1);
    model.learn(work, model.ms(work), speeds.get(0));
    speeds.forEach(speed -> speed.shift(median));
    double promptMs = model.promptMs(4_000, 0, 1);
    double decodeMs = model.decodeMs(100_000);
    model.centre(speeds);
    assertThat(speeds).allMatch(speed -> Math.abs(speed.location()) < 1e-9);
    assertThat(Math.log(model.promptMs(4_000, 0, 1) / promptMs)).isCloseTo(median, within(1e-9));
    assertThat(Math.log(model.decodeMs(100_000) / decodeMs)).isCloseTo(followed, within(1e-9));
  }

  @Test
  void aStateThatIsNotFiniteBeginsAgain() {
    StepModel model = newModel();
    Random random = new Random(1);
    for (int i = 0; i < 100; i++) {
      learn(model, new RankSpeed(), 3, random);
    }
    model.fit().setLog(0, Double.NaN);
    StepWork work = model.newWork();
    work.addPrompt(4_000, 0);
    work.addSteps(1);
    assertThat(model.ms(work)).isNaN();
    assertThat(model.learn(work, 100)).isEqualTo(StepModel.Outcome.RESET);
    assertThat(model.ms(work)).isEqualTo(newModel().ms(work));
    assertThat(model.learn(work, 100)).isEqualTo(StepModel.Outcome.LEARNED);
  }

  private static void learn(StepModel model, RankSpeed speed, double factor, Random random) {
    long uncached = 1L + random.nextInt(6_000);
    StepWork work = model.newWork();
    work.addPrompt(uncached, 0);
    work.addSteps(1);
    work.addDecoding(1, 100_000);
    double ms = factor * new Engine(1, 1, 1, 1).ms(uncached, 0, 100_000);
    model.learn(work, ms * Math.exp(NOISE * random.nextGaussian()), speed);
  }
}
