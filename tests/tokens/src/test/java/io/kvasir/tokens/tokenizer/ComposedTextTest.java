package io.kvasir.tokens.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.text.Normalizer;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Text is composed as the JDK does it, but for runs of marks that would take it too long. */
class ComposedTextTest {

  @Test
  void textsAreComposed() throws Exception {
    Random random = new Random(3);
    for (int i = 0; i < 2_000; i++) {
      String text = WellFormed.of(MixedText.of(random, random.nextInt(100)));
      assertThat(ComposedText.of(text)).isEqualTo(Normalizer.normalize(text, Normalizer.Form.NFC));
    }
    String latin = "caf\u00e9 ".repeat(100);
    assertThat(ComposedText.of(latin)).isSameAs(latin);
    String composed = "中é";
    assertThat(ComposedText.of(composed)).isSameAs(composed);
  }

  @Test
  void longRunsOfMarksAreRefused() throws Exception {
    for (String mark : new String[] {"\u0301", "\u0f73", "\u0316\u0301", "\ud834\udd65"}) {
      int each = mark.codePointCount(0, mark.length());
      String longest = mark.repeat(ComposedText.MAX_MARKS / each);
      String often = ("e" + longest).repeat(3);
      assertThat(ComposedText.of(often))
          .isEqualTo(Normalizer.normalize(often, Normalizer.Form.NFC));
      assertThatThrownBy(() -> ComposedText.of("e" + longest + mark + "e"))
          .isInstanceOf(TokenizerException.class)
          .hasMessageContaining("combining marks exceeds the limit of 1000");
    }
  }

  /** No character with a combining class is missed: it would change places with U+0301. */
  @Test
  void allCharactersThatAreOrderedAreMarks() {
    for (int character = 0; character <= Character.MAX_CODE_POINT; character++) {
      if (character >= Character.MIN_SURROGATE && character <= Character.MAX_SURROGATE) {
        continue;
      }
      String one = Character.toString(character);
      boolean ordered =
          !Normalizer.isNormalized("\u0345" + one, Normalizer.Form.NFD)
              && Normalizer.isNormalized(one, Normalizer.Form.NFD);
      boolean late = !Normalizer.isNormalized(one + "\u0334", Normalizer.Form.NFD);
      if (ordered || (late && Normalizer.isNormalized(one, Normalizer.Form.NFD))) {
        String run = one.repeat(ComposedText.MAX_MARKS + 1);
        assertThatThrownBy(() -> ComposedText.of(run))
            .as("U+%04X", character)
            .isInstanceOf(TokenizerException.class);
      }
    }
  }
}
