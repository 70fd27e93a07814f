package io.kvasir.simulator.timing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.kvasir.timing.StepTiming;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Coefficients are found again from the times of an engine that has known ones. */
class StepTimingFitTest {

  private static final long SEED = 15;
  private static final StepTiming TRUE = new StepTiming(3e-7, 0.02, 9, -12, 40, 6, 0, 1 << 18);

  private final Random random = new Random(SEED);

  private int between(int least, int most) {
    return least + random.nextInt(most - least + 1);
  }

  private double noisy(double ms) {
    return ms * (1 + 0.03 * random.nextGaussian());
  }

  private static double firstTokenMs(StepTiming timing, int prompt, int cached) {
    double computed = prompt - cached;
    return timing.prefillMs(computed * (cached + computed / 2), prompt - cached);
  }

  private static void assertSamePrefill(StepTiming fitted, double percent) {
    for (int prompt : new int[] {100, 1_000, 8_000, 20_000}) {
      for (int cached : new int[] {0, prompt / 2, prompt * 9 / 10}) {
        double expected = firstTokenMs(TRUE, prompt, cached);
        assertThat(firstTokenMs(fitted, prompt, cached))
            .as("prompt of %d tokens, %d cached, seed %d", prompt, cached, SEED)
            .isCloseTo(expected, within(expected * percent / 100));
      }
    }
  }

  private AnsweredRequest alone(double startMs) {
    int prompt = between(50, 20_000);
    int cached = random.nextBoolean() ? random.nextInt(prompt) : 0;
    double[] gaps = new double[between(0, 60)];
    for (int i = 0; i < gaps.length; i++) {
      gaps[i] = noisy(TRUE.decodeMs(prompt + i + 1));
    }
    double waited = random.nextInt(10) == 0 ? 5 : 1; // some requests wait
    return new AnsweredRequest(
        startMs, prompt, cached, noisy(waited * firstTokenMs(TRUE, prompt, cached)), gaps);
  }

  @Test
  void onlyWaitingIsAnOutlier() {
    List<AnsweredRequest> requests = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      requests.add(alone(Double.NaN));
    }
    StepTimingFit fit = StepTimingFit.of(requests);
    assertSamePrefill(fit.timing(), 5);
    assertThat(fit.started()).isFalse();
    assertThat(fit.overlapped()).isZero();
    assertThat(fit.prefill().samples()).isEqualTo(400);
    assertThat(fit.prefill().median()).isBetween(0.01, 0.04);
    assertThat(fit.prefill().p95()).isGreaterThan(0.5); // the error does not hide the outliers
    for (int tokens : new int[] {100, 5_000, 20_000}) {
      double expected = TRUE.decodeMs(tokens);
      assertThat(fit.timing().decodeMs(tokens)).isCloseTo(expected, within(expected * 0.05));
    }
  }

  /** An engine that decodes all its requests in steps, and prefills each prompt in its own step. */
  private List<AnsweredRequest> busyEngine(int count) {
    List<AnsweredRequest> done = new ArrayList<>();
    List<double[]> gaps = new ArrayList<>();
    List<int[]> running = new ArrayList<>(); // prompt, tokens so far, index
    List<double[]> times = new ArrayList<>(); // start, first token
    double nowMs = 0;
    double nextStartMs = 0;
    while (done.size() < count) {
      int started = -1;
      double stepMs;
      if (nowMs >= nextStartMs) {
        int prompt = between(100, 8_000);
        stepMs = noisy(firstTokenMs(TRUE, prompt, 0));
        started = times.size();
        times.add(new double[] {nowMs, nowMs + stepMs});
        gaps.add(new double[between(20, 200)]);
        running.add(new int[] {prompt, 0, started});
        nextStartMs = nowMs + stepMs + 100 + random.nextInt(300);
      } else {
        long active = running.stream().mapToLong(each -> each[0] + each[1] + 1).sum();
        stepMs = running.isEmpty() ? 10 : noisy(TRUE.decodeMs(active));
      }
      for (int[] each : List.copyOf(running)) {
        if (each[2] == started) {
          continue;
        }
        double[] own = gaps.get(each[2]);
        own[each[1]] += stepMs;
        if (started < 0 && ++each[1] == own.length) {
          running.remove(each);
          double[] at = times.get(each[2]);
          done.add(new AnsweredRequest(at[0], each[0], 0, at[1] - at[0], own));
        }
      }
      nowMs += stepMs;
    }
    return done;
  }

  @Test
  void decodeStepsAreFoundFromConcurrentRequests() {
    StepTimingFit fit = StepTimingFit.of(busyEngine(300));
    assertThat(fit.started()).isTrue();
    assertSamePrefill(fit.timing(), 8);
    long most = fit.decode().to();
    assertThat(most).isGreaterThan(20_000);
    for (double share : new double[] {0.2, 0.5, 0.8}) {
      long tokens = Math.round(share * most);
      double expected = TRUE.decodeMs(tokens);
      assertThat(fit.timing().decodeMs(tokens))
          .as("%d tokens of KV, seed %d", tokens, SEED)
          .isCloseTo(expected, within(expected * 0.08));
    }
  }

  @Test
  void aLineGoesOnAboveTheKvThatWasMeasured() {
    List<AnsweredRequest> requests = new ArrayList<>();
    for (int i = 1; i <= 40; i++) {
      requests.add(
          new AnsweredRequest(Double.NaN, 100 * i, 0, 10 + i, new double[] {5 + 0.001 * 100 * i}));
    }
    StepTiming timing = StepTimingFit.of(requests).timing();
    assertThat(timing.decodeKvTokens()).isEqualTo(StepTiming.DEFAULT.decodeKvTokens());
    assertThat(timing.decodeMs(100_000)).isCloseTo(105, within(1.0));
  }

  @Test
  void overlappingPrefillsAreLeftOut() {
    List<AnsweredRequest> requests = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      requests.add(alone(100_000.0 * i));
    }
    requests.add(new AnsweredRequest(10_000_000, 100, 0, 500, new double[0]));
    requests.add(new AnsweredRequest(10_000_400, 100, 0, 600, new double[0]));
    StepTimingFit fit = StepTimingFit.of(requests);
    assertThat(fit.overlapped()).isEqualTo(2);
    assertThat(fit.prefill().samples()).isEqualTo(50);
  }

  @Test
  void coefficientsAreNeverNegative() {
    List<AnsweredRequest> requests = new ArrayList<>();
    for (int i = 0; i < 20; i++) { // times that fall with the size
      requests.add(
          new AnsweredRequest(
              Double.NaN, 100 * (i + 1), 0, 100.0 - i, new double[] {20 - i / 2.0}));
    }
    StepTiming timing = StepTimingFit.of(requests).timing();
    assertThat(timing.prefillConstantMs()).isBetween(80.0, 100.0);
    assertThat(timing.prefillLinear()).isZero();
    assertThat(timing.prefillQuadratic()).isZero();
    assertThat(timing.decodeMs(2_000)).isGreaterThanOrEqualTo(timing.decodeMs(0));
  }

  @Test
  void withoutGapsTheDefaultsOfDecodingStay() {
    List<AnsweredRequest> requests = new ArrayList<>();
    for (int i = 1; i <= 8; i++) {
      requests.add(new AnsweredRequest(Double.NaN, 100 * i, 0, 10 + i, new double[0]));
    }
    StepTimingFit fit = StepTimingFit.of(requests);
    assertThat(fit.decode().samples()).isZero();
    assertThat(fit.timing().decodeLinear()).isEqualTo(StepTiming.DEFAULT.decodeLinear());
    assertThat(fit.timing().decodeKvTokens()).isEqualTo(StepTiming.DEFAULT.decodeKvTokens());
    assertThatThrownBy(() -> StepTimingFit.of(requests.subList(0, 7)))
        .hasMessage("needs at least 8 requests, has 7");
  }
}
