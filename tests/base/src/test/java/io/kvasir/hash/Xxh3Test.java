package io.kvasir.hash;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import net.openhft.hashing.LongHashFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class Xxh3Test {

  private static final int LONGEST = 4096;

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 1337, -1, Long.MIN_VALUE, 0x9E3779B97F4A7C15L})
  void everyLengthEqualsAnotherImplementation(long seed) {
    byte[] bytes = new byte[LONGEST];
    new Random(42).nextBytes(bytes);
    LongHashFunction oracle = LongHashFunction.xx3(seed);
    for (int length = 0; length <= LONGEST; length++) {
      byte[] input = Arrays.copyOf(bytes, length);
      assertThat(Xxh3.hash(input, seed)).as("length %d", length).isEqualTo(oracle.hashBytes(input));
    }
  }

  @Test
  void loraNamesHashAsUtf8() {
    assertThat(1337 + Xxh3.loraTaskId("adapter-a"))
        .isEqualTo(Long.parseUnsignedLong("8842669519798868182"));
    assertThat(Xxh3.loraTaskId("Völva"))
        .isEqualTo(
            LongHashFunction.xx3()
                .hashBytes("Völva".getBytes(java.nio.charset.StandardCharsets.UTF_8)));
  }
}
