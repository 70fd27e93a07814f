package io.kvasir.engine.execute;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import io.kvasir.timing.StepTiming;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class TimedStepEngineTest {

  private static final double MS = 1e6;

  private final TimedStepEngine engine = new TimedStepEngine(StepTiming.DEFAULT);

  @Test
  void prefillOfAWholePromptFollowsThePublishedPolynomial() {
    assertThat(stepMs(prefill(1000, 0, 1000))).isEqualTo(32.1, within(0.05));
    assertThat(stepMs(prefill(8192, 0, 8192))).isEqualTo(169.1, within(0.05));
  }

  @Test
  void chunksOfAPromptCostWhatThePromptCostsAndOneConstantEach() {
    double whole = stepMs(prefill(5000, 0, 5000));
    double parts = stepMs(prefill(5000, 0, 2000)) + stepMs(prefill(5000, 2000, 3000));
    assertThat(parts - whole).isEqualTo(16.50142, within(1e-5));
  }

  @Test
  void cachedContextIsCheaperThanComputingItButNotFree() {
    double behindContext = stepMs(prefill(5000, 4000, 1000));
    assertThat(behindContext).isGreaterThan(stepMs(prefill(1000, 0, 1000)));
    assertThat(behindContext).isLessThan(stepMs(prefill(5000, 0, 5000)));
    double expected = 2 * 4.209989e-7 * 1000 * (4000 + 500) + 1.518344e-2 * 1000 + 16.50142;
    assertThat(behindContext).isEqualTo(expected, within(1e-6));
  }

  @Test
  void decodeFollowsThePublishedPolynomialOfActiveTokens() {
    assertThat(StepTiming.DEFAULT.decodeMs(0)).isEqualTo(5.74, within(0.005));
    assertThat(StepTiming.DEFAULT.decodeMs(1 << 19)).isEqualTo(26.3, within(0.05));
    assertThat(StepTiming.DEFAULT.decodeMs(1 << 20)).isEqualTo(34.0, within(0.05));
    assertThat(StepTiming.DEFAULT.decodeMs(1 << 25)).isEqualTo(34.0, within(0.05));
    assertThat(new StepTiming(0, 0, 0, 0, 0, 0.25, 1, 1).decodeMs(0)).isEqualTo(1.0);
  }

  @Test
  void aStepTakesItsPrefillAndItsDecodeTogether() {
    StepPlan plan = new StepPlan();
    plan.add(decoding(70_000), 1);
    plan.add(decoding(30_000), 1);
    plan.add(prefill(3000, 100, 500), 500);
    plan.add(prefill(64, 0, 64), 64);
    double expected =
        StepTiming.DEFAULT.decodeMs(100_000)
            + StepTiming.DEFAULT.prefillMs(500.0 * 350 + 64.0 * 32, 564);
    assertThat(engine.step(plan) / MS).isEqualTo(expected, within(1e-6));
  }

  @Test
  void outputTokensDependOnRequestAndPlaceAlone() {
    StepPlan plan = new StepPlan();
    PlacedRequest request = decoding(100);
    plan.add(request, 1);
    engine.step(plan);
    assertThat(plan.output(0)).isEqualTo(engine.outputToken(9, request.outputs()));

    TimedStepEngine small = new TimedStepEngine(StepTiming.DEFAULT, 50);
    Set<Integer> seen = new HashSet<>();
    for (int index = 0; index < 1000; index++) {
      assertThat(small.outputToken(3, index)).isBetween(0, 49);
      seen.add(small.outputToken(3, index));
      assertThat(engine.outputToken(3, index)).isBetween(0, TimedStepEngine.DEFAULT_VOCABULARY - 1);
    }
    assertThat(seen).hasSize(50);
    assertThat(engine.outputToken(3, 0)).isNotEqualTo(engine.outputToken(4, 0));
  }

  @Test
  void refusesMeaninglessConstants() {
    assertThatThrownBy(() -> new TimedStepEngine(StepTiming.DEFAULT, 0))
        .hasMessage("vocabulary must be at least 1, not 0");
    assertThatThrownBy(() -> new StepTiming(-1, 0, 0, 0, 0, 0, 0, 1))
        .hasMessage("prefillQuadratic must be finite and at least 0, not -1.0");
    assertThatThrownBy(() -> new StepTiming(0, 0, 0, Double.NaN, 0, 0, 0, 1))
        .hasMessage("decode coefficients must be finite");
    assertThatThrownBy(() -> new StepTiming(0, 0, 0, 0, 0, 0, 0, 0))
        .hasMessage("decodeKvTokens must be at least 1, not 0");
  }

  private double stepMs(PlacedRequest chunk) {
    StepPlan plan = new StepPlan();
    plan.add(chunk, chunk.leasedTokens - chunk.computed);
    return engine.step(plan) / MS;
  }

  /** A request with {@code computed} tokens in the pool; its lease ends with the chunk. */
  private static PlacedRequest prefill(int promptTokens, int computed, int chunk) {
    PlacedRequest request = placed(promptTokens);
    request.computed = computed;
    request.leasedTokens = computed + chunk;
    return request;
  }

  /** A request whose sequence has so many tokens and that decodes its last one. */
  private static PlacedRequest decoding(int length) {
    PlacedRequest request = placed(length - 1);
    request.start(0, 0, length, 1);
    request.length = length;
    request.computed = length - 1;
    request.decoding = true;
    return request;
  }

  private static PlacedRequest placed(int promptTokens) {
    Request request = Request.builder(9, new int[promptTokens]).maxNewTokens(5).build();
    return new PlacedRequest(
        new HashedRequest(request, new BlockHashes(new long[0], new long[0])), promptTokens, 0);
  }
}
