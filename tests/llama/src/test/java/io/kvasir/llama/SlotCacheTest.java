package io.kvasir.llama;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.embedded.text.TextGeneration.Piece;
import org.junit.jupiter.api.Test;

/** The count of cached tokens. Tokens are characters, and some have the text of two. */
class SlotCacheTest {

  private final SlotCache cache = new SlotCache(SlotCacheTest::text);

  private static String text(int[] tokens) {
    StringBuilder text = new StringBuilder();
    for (int token : tokens) {
      text.append(token == 1000 ? "ab" : String.valueOf((char) token));
    }
    return text.toString();
  }

  private int start(String prompt) {
    return cache.start(prompt.chars().toArray());
  }

  private void answer(String... pieces) {
    for (String piece : pieces) {
      cache.add(new Piece(piece, 1));
    }
  }

  @Test
  void theFirstPromptIsCold() {
    assertThat(start("abc")).isZero();
  }

  @Test
  void aPromptMatchesItsCommonPrefix() {
    start("abcdef");
    assertThat(start("abcxyz")).isEqualTo(3);
    assertThat(start("x")).isZero();
  }

  @Test
  void oneTokenIsAlwaysEvaluated() {
    start("abc");
    assertThat(start("abc")).isEqualTo(2);
    assertThat(start("ab")).isEqualTo(1);
  }

  @Test
  void theNextTurnMatchesTheAnswerExceptItsLastToken() {
    start("abc");
    answer("d", "e", "f");
    assertThat(start("abcdef, and")).isEqualTo(5);
  }

  @Test
  void aChangedAnswerMatchesUpToTheChange() {
    start("abc");
    answer("d", "e", "f", "g");
    assertThat(start("abcdxfg")).isEqualTo(4);
  }

  @Test
  void anotherTokenizationOfTheAnswerDoesNotMatch() {
    start("x");
    answer("a", "b", "c");
    assertThat(cache.start(new int[] {'x', 1000, 'c', 'd'})).isEqualTo(1);
  }

  @Test
  void aPartOfSeveralTokensMatchesAsAWhole() {
    start("x");
    cache.add(new Piece("ab", 2));
    answer("c", "d");
    assertThat(start("xabcd")).isEqualTo(4);
  }
}
