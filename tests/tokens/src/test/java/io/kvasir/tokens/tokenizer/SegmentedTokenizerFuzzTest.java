package io.kvasir.tokens.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.harness.Fuzz;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Random added tokens and texts: ids of segments are those of the whole text. */
@Tag("fuzz")
class SegmentedTokenizerFuzzTest {

  private static final String[] LETTERS = {"<", ">", "|", "a", "b", " ", "\n", "é", "中", "😀", "_"};

  @TempDir private Path folder;

  @Test
  void segmentsHaveTheIdsOfTheWholeText() throws Exception {
    List<String> kinds = List.copyOf(SegmentedTokenizerTest.kinds().keySet());
    Fuzz.run("segments", random -> check(random, kinds.get(random.nextInt(kinds.size()))));
  }

  private void check(Random random, String kind) throws Exception {
    Map<String, TinyTokenizer> fresh = SegmentedTokenizerTest.kinds();
    TinyTokenizer tiny = fresh.get(kind);
    List<String> tokens = new ArrayList<>(tiny.added.keySet());
    for (int i = random.nextInt(6); i > 0; i--) {
      String token = word(random, 4);
      if (!tiny.added.containsKey(token)) {
        tiny.add(token, flags(random));
        tokens.add(token);
      }
    }
    Path own = Files.createTempDirectory(folder, "case");
    tiny.write(own);
    try (SegmentedTokenizer segmented =
            new SegmentedTokenizer(TokenizerFiles.open(own, false), 1 << random.nextInt(20));
        ModelTokenizer whole = TokenizerFiles.open(own, false)) {
      for (int i = 0; i < 50; i++) {
        StringBuilder text = new StringBuilder();
        for (int part = random.nextInt(20); part > 0; part--) {
          text.append(
              switch (random.nextInt(3)) {
                case 0 -> tokens.get(random.nextInt(tokens.size()));
                case 1 -> word(random, 5);
                default -> MixedText.of(random, 1);
              });
        }
        boolean special = random.nextBoolean();
        assertThat(segmented.encode(text.toString(), special))
            .as("%s, %s: %s", kind, tiny.json().get("added_tokens"), text)
            .isEqualTo(whole.encode(text.toString(), special));
      }
    }
  }

  private static String[] flags(Random random) {
    List<String> flags = new ArrayList<>();
    for (String flag : List.of("lstrip", "rstrip", "normalized", "special")) {
      if (random.nextInt(3) == 0) {
        flags.add(flag);
      }
    }
    if (random.nextInt(10) == 0) {
      flags.add("single_word");
    }
    return flags.toArray(new String[0]);
  }

  private static String word(Random random, int letters) {
    StringBuilder word = new StringBuilder();
    for (int i = 1 + random.nextInt(letters); i > 0; i--) {
      word.append(LETTERS[random.nextInt(LETTERS.length)]);
    }
    return word.toString();
  }
}
