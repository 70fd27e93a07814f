package io.kvasir.timing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The fit of a link, against links of known speed. */
class TransferTimeTest {

  private static final double PRIOR = 0.0014;
  private static final int OBSERVATIONS = 400;

  private static double noisy(Random random, double ms) {
    return ms * Math.exp(0.3 * random.nextGaussian());
  }

  private static void observe(
      TransferTime time, Random random, int count, double eachMs, double tokenMs, double otherMs) {
    for (int i = 0; i < count; i++) {
      long tokens = 200L + random.nextInt(16_000);
      double ms = noisy(random, otherMs + eachMs + tokenMs * tokens);
      assertThat(time.learn(tokens, otherMs, ms)).isTrue();
    }
  }

  @Test
  void beginsWithThePriorAndWithoutAConstantPart() {
    TransferTime time = new TransferTime(PRIOR);
    assertThat(time.ms(1_000)).isCloseTo(1.4, within(1e-9));
    assertThat(time.ms(0)).isZero();
  }

  /** Links of 400, 40 and 4 Gb/s. */
  @ParameterizedTest
  @CsvSource({
    "0,  0.0014, 0",
    "3,  0.0014, 0",
    "3,  0.014, 8",
    "1,  0.14, 8",
    "0, 0.0014, 2",
    "20, 0.14, 8"
  })
  void findsTheTimesOfALinkWithinATenth(double eachMs, double tokenMs, double otherMs) {
    for (int seed = 1; seed <= 5; seed++) {
      TransferTime time = new TransferTime(PRIOR);
      observe(time, new Random(seed), OBSERVATIONS, eachMs, tokenMs, otherMs);
      for (long tokens : new long[] {2_000, 8_000, 16_000}) {
        double actual = eachMs + tokenMs * tokens;
        assertThat(time.ms(tokens))
            .as("seed %d, %d tokens", seed, tokens)
            .isCloseTo(actual, within(0.1 * (actual + otherMs)));
      }
    }
  }

  @Test
  void aLinkThatBecomesTenTimesSlowerIsFollowed() {
    Random random = new Random(7);
    TransferTime time = new TransferTime(PRIOR);
    observe(time, random, 500, 1, 0.0014, 0);
    observe(time, random, 60, 10, 0.014, 0);
    assertThat(time.ms(8_000)).isCloseTo(122, within(25.0));
  }

  @Test
  void someStalledRequestsChangeLittle() {
    Random random = new Random(8);
    TransferTime time = new TransferTime(PRIOR);
    for (int i = 0; i < 600; i++) {
      long tokens = 200L + random.nextInt(16_000);
      double ms = noisy(random, 1 + 0.0014 * tokens);
      time.learn(tokens, 0, i % 20 == 0 ? ms + 30_000 : ms);
    }
    assertThat(time.ms(8_000)).isBetween(10.0, 18.0);
  }

  @Test
  void nonsenseIsIgnoredAndBoundsHold() {
    TransferTime time = new TransferTime(PRIOR);
    for (double ms : new double[] {Double.NaN, Double.POSITIVE_INFINITY, 0, -5}) {
      assertThat(time.learn(100, 0, ms)).isTrue();
    }
    assertThat(time.learn(100, Double.NaN, 5)).isTrue();
    assertThat(time.learn(0, 0, 5)).isTrue();
    assertThat(time.ms(100)).isEqualTo(100 * PRIOR);
    for (int i = 0; i < 10_000; i++) {
      assertThat(time.learn(1_000, 0, 1e12)).isTrue();
    }
    assertThat(time.ms(1_000)).isLessThanOrEqualTo(999 + 1_000 * PRIOR * 1_000 + 1e-6);
    for (int i = 0; i < 20_000; i++) {
      assertThat(time.learn(1_000, 0, 1e-9)).isTrue();
    }
    assertThat(time.ms(1_000)).isPositive();
  }

  @Test
  void aPairOfWhichNothingIsSeenBecomesLikeTheOthers() {
    Random random = new Random(9);
    TransferTime others = new TransferTime(PRIOR);
    observe(others, random, 200, 0, 0.0014, 0);
    TransferTime slow = new TransferTime(others);
    assertThat(slow.ms(8_000)).isEqualTo(others.ms(8_000));
    observe(slow, random, 200, 0, 0.014, 0);
    double before = slow.ms(8_000);
    slow.relax(others);
    assertThat(slow.ms(8_000)).isBetween(others.ms(8_000) * 2, before / 2);
  }
}
