package io.kvasir.timing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kvasir.testing.harness.LongRuns;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Forecasts of all kinds of work after many observations of some kinds. */
class StepModelsLongRunTest {

  private static final long OBSERVATIONS = LongRuns.cases(400_000, 10_000_000);
  private static final int FIRST_PROMPTS = 2_000;
  private static final StepModel PUBLISHED = new StepModel(StepTiming.DEFAULT, 1);

  /** What engines compute. */
  private enum Mixture {
    PROMPTS(1),
    PROMPTS_AND_DECODING(10),
    HARDLY_ANY_PROMPTS(250),
    DECODING_AFTER_PROMPTS(Integer.MAX_VALUE);

    final int stepsPerPrompt;

    Mixture(int stepsPerPrompt) {
      this.stepsPerPrompt = stepsPerPrompt;
    }

    boolean isPrompt(long i) {
      return i % stepsPerPrompt == 0
          || (this == DECODING_AFTER_PROMPTS && i < FIRST_PROMPTS && i % 2 == 0);
    }
  }

  private final Random random = new Random(7);

  /** Work of one step and its published time. */
  private double someWork(StepWork work, boolean prompt) {
    work.clear();
    if (prompt) {
      long tokens = 200L + random.nextInt(8_000);
      work.addSteps(1);
      work.addPrompt(tokens, 0);
      return PUBLISHED.promptMs(tokens, 0, 1);
    }
    long kvTokens = 20_000L + random.nextInt(400_000);
    work.addDecoding(1, kvTokens);
    return PUBLISHED.decodeMs(kvTokens);
  }

  private static double promptFactor(StepModel model) {
    return model.promptMs(4_000, 0, 1) / PUBLISHED.promptMs(4_000, 0, 1);
  }

  private static double decodeFactor(StepModel model) {
    return model.decodeMs(100_000) / PUBLISHED.decodeMs(100_000);
  }

  /** The mean forecasts of the last quarter of a run over the published times. */
  private static final class Means {
    private double prompts;
    private double decodeSteps;
    private long count;

    void add(long i, StepModel model) {
      if (i >= OBSERVATIONS * 3 / 4 && i % 97 == 0) {
        prompts += promptFactor(model);
        decodeSteps += decodeFactor(model);
        count++;
      }
    }

    void assertClose(double promptFactor, double decodeFactor) {
      assertThat(prompts / count)
          .as("prompts")
          .isCloseTo(promptFactor, within(0.05 * promptFactor));
      assertThat(decodeSteps / count)
          .as("decode steps")
          .isCloseTo(decodeFactor, within(0.05 * decodeFactor));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "PROMPTS, 0.05",
    "PROMPTS, 0.3",
    "PROMPTS_AND_DECODING, 0.05",
    "PROMPTS_AND_DECODING, 0.3",
    "HARDLY_ANY_PROMPTS, 0.05",
    "HARDLY_ANY_PROMPTS, 0.1",
    "HARDLY_ANY_PROMPTS, 0.2",
    "HARDLY_ANY_PROMPTS, 0.3",
    "DECODING_AFTER_PROMPTS, 0.05",
    "DECODING_AFTER_PROMPTS, 0.3"
  })
  void forecastsOfAllKindsStayRight(Mixture mixture, double noise) {
    StepModels models = new StepModels(StepTiming.DEFAULT);
    double[] factors = {1, 1, 1.8, 1.8};
    StepModel[] engines = new StepModel[factors.length];
    Means[] means = new Means[factors.length];
    for (int i = 0; i < factors.length; i++) {
      engines[i] = models.add();
      means[i] = new Means();
    }
    double[] decodeFactors = factors.clone();
    StepWork work = PUBLISHED.newWork();
    for (long i = 0; i < OBSERVATIONS; i++) {
      int at = random.nextInt(factors.length);
      StepModel engine = engines[at];
      double ms = factors[at] * someWork(work, mixture.isPrompt(i));
      engine.learn(work, ms * Math.exp(noise * random.nextGaussian()));
      models.onLearned(engine, at > 0);
      means[at].add(i, engine);
      if (mixture == Mixture.PROMPTS && i < OBSERVATIONS / 2) { // not seen: must not change
        decodeFactors[at] = decodeFactor(engine);
      }
    }
    for (int i = 0; i < factors.length; i++) {
      means[i].assertClose(factors[i], decodeFactors[i]);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "PROMPTS, 0.1",
    "PROMPTS_AND_DECODING, 0.3",
    "HARDLY_ANY_PROMPTS, 0.3",
    "DECODING_AFTER_PROMPTS, 0.3"
  })
  void thoseOfASingleEngineToo(Mixture mixture, double noise) {
    StepModels models = new StepModels(StepTiming.DEFAULT);
    StepModel engine = models.add();
    Means own = new Means();
    Means common = new Means();
    StepWork work = PUBLISHED.newWork();
    for (long i = 0; i < OBSERVATIONS; i++) {
      double ms = someWork(work, mixture.isPrompt(i));
      engine.learn(work, ms * Math.exp(noise * random.nextGaussian()));
      models.onLearned(engine, false);
      own.add(i, engine);
      common.add(i, models.common());
    }
    own.assertClose(1, 1);
    common.assertClose(1, 1);
  }

  /** Prompts together with decode steps, which have little noise and a better prior. */
  @ParameterizedTest
  @CsvSource({"5, 0.01", "5, 0.05", "40, 0.01", "0.03, 0.05"})
  void rarePromptsBesideSteadyDecodeStepsAreLearned(double promptFactor, double noise) {
    StepModel engine = new StepModels(StepTiming.DEFAULT).add();
    StepWork work = PUBLISHED.newWork();
    for (long i = 0; i < 250 * 200; i++) {
      boolean prompt = Mixture.HARDLY_ANY_PROMPTS.isPrompt(i);
      double ms = someWork(work, prompt) * (prompt ? promptFactor : 1);
      engine.learn(work, ms * Math.exp(noise * random.nextGaussian()));
    }
    assertThat(promptFactor(engine)).isCloseTo(promptFactor, within(0.06 * promptFactor));
    assertThat(decodeFactor(engine)).isCloseTo(1, within(0.05));
  }

  /** Decode steps that are 15 % shorter and longer for 2,000 steps in turn. */
  @ParameterizedTest
  @ValueSource(doubles = {0.02, 0.1})
  void decodeStepsThatChangeALittleMoveNoPrompts(double noise) {
    StepModel engine = new StepModels(StepTiming.DEFAULT).add();
    StepWork work = PUBLISHED.newWork();
    for (long i = 0; i < OBSERVATIONS; i++) {
      boolean prompt = Mixture.DECODING_AFTER_PROMPTS.isPrompt(i);
      double factor = prompt ? 1 : i % 4_000 < 2_000 ? 0.85 : 1.15;
      double ms = someWork(work, prompt) * factor;
      engine.learn(work, ms * Math.exp(noise * random.nextGaussian()));
    }
    assertThat(promptFactor(engine)).isCloseTo(1, within(0.05));
  }

  @Test
  void idleEnginesStayWithinThoseThatAreKnown() {
    StepModels models = new StepModels(StepTiming.DEFAULT);
    List<StepModel> engines = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      engines.add(models.add());
    }
    StepWork work = PUBLISHED.newWork();
    for (int i = 0; i < 8_000; i++) {
      StepModel engine = engines.get(i % 8);
      double ms = someWork(work, i / 8 % 4 == 0);
      engine.learn(work, 2 * ms * Math.exp(0.1 * random.nextGaussian()));
      models.onLearned(engine, true);
    }
    for (int halfMinute = 0; halfMinute < 10_000; halfMinute++) { // some days
      engines.forEach(models::relax);
      if (halfMinute % 100 == 0) { // one engine has one step, with noise
        double ms = someWork(work, false);
        engines.get(0).learn(work, 2 * ms * Math.exp(0.3 * random.nextGaussian()));
        models.onLearned(engines.get(0), true);
      }
    }
    for (StepModel engine : engines.subList(1, 8)) {
      assertThat(promptFactor(engine)).isCloseTo(2, within(0.1));
      assertThat(decodeFactor(engine)).isCloseTo(2, within(0.1));
    }
  }

  /** A group's ranks share coefficients and have a speed each. */
  @ParameterizedTest
  @CsvSource({
    "PROMPTS, 0.3",
    "PROMPTS_AND_DECODING, 0.1",
    "HARDLY_ANY_PROMPTS, 0.1",
    "DECODING_AFTER_PROMPTS, 0.1",
    "DECODING_AFTER_PROMPTS, 0.3"
  })
  void thoseOfAGroupToo(Mixture mixture, double noise) {
    StepModel model = new StepModel(StepTiming.DEFAULT, 1);
    List<RankSpeed> speeds = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      speeds.add(new RankSpeed());
    }
    Means means = new Means();
    StepWork work = PUBLISHED.newWork();
    for (long i = 0; i < OBSERVATIONS; i++) {
      double ms = someWork(work, mixture.isPrompt(i));
      RankSpeed speed = speeds.get(random.nextInt(8));
      model.learn(work, ms * Math.exp(noise * random.nextGaussian()), speed);
      if (i % 16 == 0) {
        model.centre(speeds);
      }
      means.add(i, model);
    }
    means.assertClose(1, 1);
    for (RankSpeed speed : speeds) {
      assertThat(speed.factor()).isCloseTo(1, within(0.1));
    }
  }
}
