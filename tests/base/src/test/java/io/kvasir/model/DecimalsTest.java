package io.kvasir.model;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DecimalsTest {

  @Test
  void plainDecimalsAreRead() {
    assertThat(Decimals.integer(" -8 ")).isEqualTo(-8);
    assertThat(Decimals.integer("+007")).isEqualTo(7);
    assertThat(Decimals.integer("9223372036854775807")).isEqualTo(Long.MAX_VALUE);
    assertThat(Decimals.number("8")).isEqualTo(8);
    assertThat(Decimals.number("-.5")).isEqualTo(-0.5);
    assertThat(Decimals.number("5.")).isEqualTo(5);
    assertThat(Decimals.number("1.5E-3")).isEqualTo(0.0015);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "-", "1f", "1d", "1_000", "0x10", "0x1p3", "\uff18", "1e", ".", "NaN", "1 2"})
  void otherNotationsAreNot(String text) {
    assertThat(Decimals.integer(text)).isNull();
    assertThat(Decimals.number(text)).isNull();
  }

  @Test
  void integersAreNotRounded() {
    assertThat(Decimals.integer("1.0")).isNull();
    assertThat(Decimals.integer("9223372036854775808")).isNull();
  }
}
