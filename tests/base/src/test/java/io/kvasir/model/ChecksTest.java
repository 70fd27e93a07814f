package io.kvasir.model;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ChecksTest {

  @Test
  void boundsAreAllowedValues() {
    Checks.atLeast("ranks", 1, 1);
    Checks.finiteAtLeast0("weight", 0);
    Checks.within("share", 0, 0, 1);
    Checks.within("share", 1, 0, 1);
    Checks.within("cap", Double.POSITIVE_INFINITY, 0, Double.POSITIVE_INFINITY);
  }

  @ParameterizedTest
  @CsvSource({
    "-0.1, 0, 1, 'x must be within 0 to 1, not -0.1'",
    "NaN, 0, 1, 'x must be within 0 to 1, not NaN'",
    "0, 0.001, 315360000, 'x must be within 0.001 to 315360000, not 0.0'",
    "-1, 0, Infinity, 'x must be within 0 to Infinity, not -1.0'",
    "-2e300, -1e300, 0, 'x must be within -1.0E300 to 0, not -2.0E300'",
  })
  void rangesAreShownWithoutNeedlessFractions(
      double value, double least, double most, String message) {
    assertThatThrownBy(() -> Checks.within("x", value, least, most))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
  }

  @Test
  void rangesOfWholeNumbersAreExact() {
    Checks.within("bytes", Long.MAX_VALUE, 0, Long.MAX_VALUE);
    assertThatThrownBy(() -> Checks.within("bytes", (1L << 53) + 1, 0, 1L << 53))
        .hasMessage("bytes must be within 0 to 9007199254740992, not 9007199254740993");
  }

  @Test
  void lowerBoundsNameTheValue() {
    assertThatThrownBy(() -> Checks.atLeast("ranks", 0, 1))
        .hasMessage("ranks must be at least 1, not 0");
    assertThatThrownBy(() -> Checks.finiteAtLeast0("weight", Double.POSITIVE_INFINITY))
        .hasMessage("weight must be finite and at least 0, not Infinity");
  }
}
