package io.kvasir.tokens.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.testing.harness.LongRuns;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A tokenizer.json gives the ids that its definition says. */
class JsonTokenizerTest {

  @TempDir private Path folder;

  @Test
  void byteLevelIdsAreThoseOfTheMergeRules() throws Exception {
    TinyTokenizer tiny =
        TinyTokenizer.byteLevel(false).add("<|im_start|>", "special").add("<|im_end|>", "special");
    tiny.write(folder);
    long seed = Long.getLong("kvasir.test.seed", 20261127L);
    System.out.println("-Dkvasir.test.seed=" + seed);
    String text = MixedText.of(new Random(seed), LongRuns.cases(1 << 19, 1 << 20));
    try (ModelTokenizer tokenizer = TokenizerFiles.open(folder, false);
        ModelTokenizer segmented = SegmentedTokenizer.open(folder, 1 << 20)) {
      List<Integer> expected = tiny.slowly(WellFormed.of(text), tiny.added.keySet());
      assertThat(ids(tokenizer.encode(text, true))).isEqualTo(expected);
      assertThat(ids(segmented.encode(text, true))).as("segmented").isEqualTo(expected);
    }
  }

  @Test
  void thePostProcessorSaysWhatIsAdded() throws Exception {
    TinyTokenizer tiny =
        TinyTokenizer.byteLevel(false).add("<s>", "special").add("</s>", "special");
    tiny.frame("<s>", "</s>").write(folder);
    int bos = tiny.added.get("<s>");
    int eos = tiny.added.get("</s>");
    try (ModelTokenizer tokenizer = TokenizerFiles.open(folder, false)) {
      int[] plain = tokenizer.encode("the text", false);
      int[] framed = tokenizer.encode("the text", true);
      assertThat(framed).startsWith(bos).endsWith(eos).hasSize(plain.length + 2);
      assertThat(Arrays.copyOfRange(framed, 1, framed.length - 1)).isEqualTo(plain);
      assertThat(tokenizer.encode("", true)).containsExactly(bos, eos);
      assertThat(tokenizer.encode("", false)).isEmpty();
    }
  }

  @Test
  void truncationAndPaddingOfTheFileAreOff() throws Exception {
    TinyTokenizer tiny = TinyTokenizer.byteLevel(false).add("<pad>", "special");
    var truncation = tiny.json().putObject("truncation").put("direction", "Right");
    truncation.put("max_length", 4).put("strategy", "LongestFirst").put("stride", 0);
    var padding = tiny.json().putObject("padding").put("direction", "Right");
    padding.putObject("strategy").put("Fixed", 5000);
    padding.putNull("pad_to_multiple_of").put("pad_id", 0).put("pad_type_id", 0);
    padding.put("pad_token", "<pad>");
    tiny.write(folder);
    String text = "the text ".repeat(1000);
    try (ModelTokenizer tokenizer = TokenizerFiles.open(folder, false)) {
      assertThat(ids(tokenizer.encode(text, true))).isEqualTo(tiny.slowly(text, List.of()));
    }
  }

  @Test
  void aClosedTokenizerAndATooLongTextAreRefused() throws Exception {
    TinyTokenizer.byteLevel(false).write(folder);
    ModelTokenizer tokenizer = TokenizerFiles.open(folder, false);
    assertThat(tokenizer.digest()).matches("[0-9a-f]{64}");
    assertThatThrownBy(() -> tokenizer.encode("a".repeat(ModelTokenizer.MAX_CHARS + 1), false))
        .isInstanceOf(TokenizerException.class)
        .hasMessageContaining("exceeds the limit");
    tokenizer.close();
    tokenizer.close();
    assertThatThrownBy(() -> tokenizer.encode("a", false))
        .isInstanceOf(IllegalStateException.class);
  }

  static List<Integer> ids(int[] ids) {
    return Arrays.stream(ids).boxed().toList();
  }
}
