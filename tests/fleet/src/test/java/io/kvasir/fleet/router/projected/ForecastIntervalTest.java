package io.kvasir.fleet.router.projected;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ForecastIntervalTest {

  /** Errors as logarithms. */
  @SuppressWarnings("ImmutableEnumChecker") // the functions have no state
  enum Errors {
    SMALL(random -> 0.02 * random.nextGaussian()),
    BIASED(random -> 0.7 + 0.1 * random.nextGaussian()),
    SKEWED(random -> -Math.log(1 - random.nextDouble())),
    HEAVY(random -> random.nextGaussian() / Math.max(0.05, Math.abs(random.nextGaussian())));

    private final ToDoubleFunction<Random> draw;

    Errors(ToDoubleFunction<Random> draw) {
      this.draw = draw;
    }
  }

  @ParameterizedTest
  @EnumSource(Errors.class)
  void ninetyPercentAreInside(Errors errors) {
    for (long seed = 0; seed < 5; seed++) {
      Random random = new Random(seed);
      ForecastInterval interval = new ForecastInterval();
      int below = 0;
      int above = 0;
      for (int i = 0; i < 12_000; i++) {
        double expected = 1 + 1_000 * random.nextDouble();
        double actual = expected * Math.exp(errors.draw.applyAsDouble(random));
        if (i >= 2_000) {
          below += actual < expected * interval.lowFactor() ? 1 : 0;
          above += actual > expected * interval.highFactor() ? 1 : 0;
        }
        interval.learn(expected, actual);
      }
      assertThat(below / 10_000.0).as("below, seed " + seed).isCloseTo(0.05, within(0.01));
      assertThat(above / 10_000.0).as("above, seed " + seed).isCloseTo(0.05, within(0.01));
    }
  }

  @Test
  void followsErrorsThatGrow() {
    Random random = new Random(1);
    ForecastInterval interval = new ForecastInterval();
    int inside = 0;
    for (int i = 0; i < 20_000; i++) {
      double actual = Math.exp((1 + i / 2_000) * 0.05 * random.nextGaussian());
      boolean in = actual >= interval.lowFactor() && actual <= interval.highFactor();
      inside += in && i >= 2_000 ? 1 : 0;
      interval.learn(1, actual);
    }
    assertThat(inside / 18_000.0).isBetween(0.87, 0.93);
  }

  @Test
  void timesThatSayNothingAreIgnored() {
    ForecastInterval interval = new ForecastInterval();
    double low = interval.lowFactor();
    interval.learn(0, 5);
    interval.learn(5, 0);
    interval.learn(Double.NaN, 1);
    assertThat(interval.lowFactor()).isEqualTo(low);
    interval.learn(1, Double.POSITIVE_INFINITY);
    assertThat(interval.highFactor()).isFinite();
  }
}
