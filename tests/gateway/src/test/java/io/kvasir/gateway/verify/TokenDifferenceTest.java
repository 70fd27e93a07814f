package io.kvasir.gateway.verify;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.verify.TokenDifference.Alignment;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Where stored tokens lie in a prompt. */
class TokenDifferenceTest {

  private static final int BLOCK = 4;

  private static int[] range(int from, int to) {
    return IntStream.range(from, to).toArray();
  }

  @Test
  void blocksInsideAPromptAreFoundWhereTheyAgreeLongest() {
    int[] stored = range(8, 20);
    stored[6] = -1;
    assertThat(TokenDifference.align(range(0, 40), stored, false, BLOCK))
        .isEqualTo(new Alignment(8, 6));
    assertThat(TokenDifference.align(range(0, 40), stored, true, BLOCK))
        .isEqualTo(new Alignment(0, 0));
    assertThat(TokenDifference.align(range(0, 10), range(8, 20), false, BLOCK))
        .isEqualTo(new Alignment(8, 2));
    assertThat(TokenDifference.align(range(0, 40), range(8, 20), false, BLOCK))
        .isEqualTo(new Alignment(8, 12));
  }

  /** Without a bound, the end of this prompt would be found after a billion comparisons. */
  @Test
  void theSearchIsBounded() {
    int[] stored = new int[4_096];
    stored[4_095] = 1;
    int[] prompt = Arrays.copyOf(new int[0], 1 << 20);
    prompt[prompt.length - 1] = 1;
    assertThat(TokenDifference.align(prompt, stored, false, BLOCK))
        .isEqualTo(new Alignment(0, 4_095));
  }
}
