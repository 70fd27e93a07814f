package io.kvasir.fleet.router.projected;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kvasir.model.RankId;
import io.kvasir.timing.StepModels;
import io.kvasir.timing.StepTiming;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two ranks of one engine, which compute a token in a millisecond, and 1,000 tokens in a step. */
class LockstepTest {

  private static final long MS = 1_000_000;
  private static final StepTiming A_MS_EACH = new StepTiming(0, 1, 0, 0, 0, 0, 0, 1);

  private final EngineRanks engine = new EngineRanks(new StepModels(A_MS_EACH), 0);
  private RankForecast rank;
  private RankForecast other;
  private long choice;

  @BeforeEach
  void start() {
    rank = added(0);
    other = added(1);
  }

  private RankForecast added(int dpRank) {
    RankForecast made =
        new RankForecast(new RankId(0, dpRank), new LoadEstimate(), new ForecastInterval(), engine);
    made.limitStep(1_000);
    engine.add(made);
    return made;
  }

  private static void place(RankForecast on, int tokens, long nowMs) {
    on.placed(tokens, 0, tokens, Double.POSITIVE_INFINITY, 1, true, true, null, nowMs * MS);
  }

  private double together(int tokens, long nowMs) {
    engine.read(++choice);
    return rank.togetherMs(tokens, tokens, nowMs * MS);
  }

  @Test
  void withoutPromptsElsewhereItIsTheOwnTime() {
    assertThat(together(300, 5)).isCloseTo(300, within(1e-9));
    assertThat(together(2_500, 5)).isCloseTo(2_500, within(1e-9));
  }

  @Test
  void aPromptWaitsForTheStepInProgressAndThenForTheLongerStep() {
    place(other, 2_000, 0); // two steps of a second
    assertThat(together(300, 0)).isCloseTo(1_000 + 1_000, within(1e-9));
    assertThat(together(300, 400)).isCloseTo(600 + 1_000, within(1e-9));
    assertThat(together(300, 990)).as("a tenth of the step is left").isCloseTo(1_100, within(1e-9));
    place(other, 300, 400); // three steps of 767 ms
    assertThat(together(900, 400)).isCloseTo(2_300 / 3.0 - 400 + 900, within(1e-9));
  }

  @Test
  void aRankThatComputesPromptsGoesOn() {
    place(rank, 1_500, 0);
    place(other, 600, 0);
    // 1,500 and 500 tokens in two steps of a second each; the other one's step is shorter
    assertThat(together(500, 100)).isCloseTo(2_000 - 100, within(1e-9));
  }
}
