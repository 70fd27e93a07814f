package io.kvasir.simulator.timing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.kvasir.timing.ForwardPass;
import io.kvasir.timing.StepOverheads;
import io.kvasir.timing.StepTiming;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** All terms of a step's time are found again from the steps of an engine that has them. */
class StepsFitTest {

  private static final long SEED = 37;
  private static final double NOISE = 0.02;

  private final Random random = new Random(SEED);

  private int between(int least, int most) {
    return least + random.nextInt(most - least + 1);
  }

  private static StepTiming engine(int multiple, double allReduceMs, double overlap) {
    StepOverheads overheads = new StepOverheads(0.15, multiple, allReduceMs, 0, overlap);
    return new StepTiming(1e-6, 0.05, 4, 0, 60, 10, 0, 1 << 20, overheads);
  }

  /** Steps of prompts, of decoding requests and of both. Some take three times as long. */
  private List<ForwardPass> steps(StepTiming engine, int count) {
    List<ForwardPass> steps = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int kind = random.nextInt(3);
      long tokens = kind == 1 ? 0 : between(20, 4_000);
      long context = random.nextBoolean() ? 0 : between(0, 10_000);
      int decoding = kind == 0 ? 0 : between(1, 120);
      long kvTokens = (long) decoding * between(200, 6_000);
      double ms = engine.stepMs(tokens * (context + tokens / 2.0), tokens, decoding, kvTokens);
      ms *= 1 + NOISE * random.nextGaussian();
      ms *= random.nextInt(50) == 0 ? 3 : 1;
      int prompts = tokens == 0 ? 0 : 1;
      long ns = Math.round(ms * 1e6);
      steps.add(new ForwardPass(ns, prompts, tokens, context, decoding, kvTokens));
    }
    return steps;
  }

  @ParameterizedTest
  @CsvSource({"1, 0, 0", "8, 0, 0", "8, 5, 0", "1, 3, 0.5", "8, 5, 0.5", "8, 0, 1"})
  void termsAreFound(int multiple, double allReduceMs, double overlap) {
    StepTiming engine = engine(multiple, allReduceMs, overlap);
    StepsFit fit = StepsFit.of(steps(engine, 2_000));
    StepTiming found = fit.timing();
    StepOverheads overheads = found.overheads();
    assertThat(overheads.decodeGraphMultiple()).as("seed %d", SEED).isEqualTo(multiple);
    assertThat(overheads.mixedOverlap()).isCloseTo(overlap, within(0.11));
    assertThat(overheads.decodeRequestMs()).isCloseTo(0.15, within(0.015));
    if (overlap < 1) { // else no step shows it apart from the rest
      assertThat(overheads.allReduceMs()).isCloseTo(allReduceMs, within(1.0));
    }
    for (ForwardPass step : steps(engine, 200)) {
      double pairs = step.attendedPairs();
      int decoding = step.decodingRequests();
      double expected = engine.stepMs(pairs, step.prefillTokens(), decoding, step.decodeKvTokens());
      assertThat(found.stepMs(pairs, step.prefillTokens(), decoding, step.decodeKvTokens()))
          .as("%s, seed %d", step, SEED)
          .isCloseTo(expected, within(0.05 * expected));
    }
    assertThat(fit.prefill().median()).isBetween(0.005, 0.03);
    assertThat(fit.decode().median()).isBetween(0.005, 0.03);
    assertThat(fit.mixed().median()).isBetween(0.005, 0.03);
  }

  @Test
  void anEngineThatOnlyDecodesHasNoPrefill() {
    List<ForwardPass> steps =
        steps(engine(1, 0, 0), 600).stream().filter(step -> step.prefillTokens() == 0).toList();
    StepsFit fit = StepsFit.of(steps);
    assertThat(fit.prefill().samples()).isZero();
    assertThat(fit.mixed().samples()).isZero();
    assertThat(fit.timing().decodeConstantMs()).isCloseTo(10, within(0.5));
    assertThat(fit.timing().overheads().mixedOverlap()).isZero();
  }

  @Test
  void idleStepsDoNotCount() {
    List<ForwardPass> idle = new ArrayList<>(List.of(ForwardPass.IDLE));
    idle.addAll(steps(engine(1, 0, 0), 7));
    assertThatThrownBy(() -> StepsFit.of(idle))
        .hasMessage("needs at least 8 steps with work, has 7");
  }
}
