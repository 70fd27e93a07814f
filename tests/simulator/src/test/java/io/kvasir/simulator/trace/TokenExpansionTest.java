package io.kvasir.simulator.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class TokenExpansionTest {

  @Test
  void everyPrefixOfAContentIsTheSameWhereverItIsWritten() {
    int[] whole = new int[512];
    TokenExpansion.fill(TokenExpansion.seed(1, 42), whole, 0, 512);

    for (int length = 0; length <= 512; length++) {
      int[] part = new int[length + 3];
      TokenExpansion.fill(TokenExpansion.seed(1, 42), part, 3, 3 + length);
      assertThat(Arrays.copyOfRange(part, 3, 3 + length)).isEqualTo(Arrays.copyOf(whole, length));
      assertThat(part).startsWith(0, 0, 0);
    }
  }

  @Test
  void tokensCoverTheVocabularyEvenly() {
    int[] tokens = new int[256_000];
    TokenExpansion.fill(TokenExpansion.seed(1, 7), tokens, 0, tokens.length);

    assertThat(Arrays.stream(tokens).min().orElseThrow()).isNotNegative();
    assertThat(Arrays.stream(tokens).max().orElseThrow()).isLessThan(TokenExpansion.VOCABULARY);
    assertThat(Arrays.stream(tokens).distinct().count()).isBetween(109_000L, 112_500L);
  }

  @Test
  void namesAndDomainsDoNotShareContent() {
    LongOpenHashSet heads = new LongOpenHashSet();
    int[] tokens = new int[4];
    for (int domain = 0; domain < 3; domain++) {
      for (int name = -500; name < 500; name++) {
        TokenExpansion.fill(TokenExpansion.seed(domain, name), tokens, 0, 4);
        heads.add((long) tokens[0] << 34 | (long) tokens[1] << 17 | tokens[2]);
      }
    }
    assertThat(heads).hasSize(3_000);
  }

  @Test
  void theMappingNeverChanges() {
    int[] tokens = new int[5];
    TokenExpansion.fill(TokenExpansion.seed(1, 42), tokens, 0, 5);

    assertThat(tokens).containsExactly(11316, 40298, 25833, 61765, 111594);
  }

  @Test
  void aRangeOutsideTheArrayIsRefused() {
    assertThatThrownBy(() -> TokenExpansion.fill(1, new int[4], 2, 5))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }
}
