package io.kvasir.fleet.router.projected;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LoadEstimateTest {

  private static final long SECOND = 1_000_000_000;

  private final LoadEstimate load = new LoadEstimate();

  @ParameterizedTest
  @ValueSource(doubles = {20, 200, 8_000})
  void aBacklogCountsInPromptsWhateverOneTakes(double promptMs) {
    for (int i = 0; i < 300; i++) {
      load.placed(promptMs);
    }
    assertThat(load.share(0, 8)).isZero();
    assertThat(load.share(8 * 3 * promptMs, 8)).isCloseTo(0.5, within(1e-9));
    assertThat(load.share(8 * 9 * promptMs, 8)).isCloseTo(0.75, within(1e-9));
    assertThat(load.share(1e9, 8)).isEqualTo(0.9);
  }

  @Test
  void theTimeOfAPromptIsTheMeanOfTheLast() {
    load.placed(100);
    load.placed(300);
    assertThat(load.share(3 * 200, 1)).isCloseTo(0.5, within(1e-9));
    for (int i = 0; i < 3_000; i++) {
      load.placed(1_000);
    }
    assertThat(load.share(3 * 1_000, 1)).isCloseTo(0.5, within(1e-3));
  }

  @Test
  void theShareIsThatOfTheLastSecondsIfItIsMore() {
    load.advance(0, 2);
    load.placed(100);
    load.busy(12_000);
    load.advance(10 * SECOND, 2);
    double recent = load.share();
    assertThat(recent).isBetween(0.4, 0.6);
    assertThat(load.share(1, 2)).isEqualTo(recent);
    assertThat(load.share(2 * 3 * 300, 2)).isCloseTo(0.75, within(1e-9));
  }

  @Test
  void withoutPlacementsNothingIsKnownOfABacklog() {
    assertThat(load.share(1_000, 8)).isZero();
  }
}
