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
    Map<String, TinyTokenizer> kinds = SegmentedTokenizerTest.kinds();
    List<String> names = List.copyOf(kinds.keySet());
    Fuzz.run(
        "segments",
        random -> {
          String kind = names.get(random.nextInt(names.size()));
          check(random, kind, kinds.get(kind).copy());
        });
  }

  private void check(Random random, String kind, TinyTokenizer tiny) throws Exception {
    List<String> tokens = new ArrayList<>(tiny.added.keySet());
    for (int i = random.nextInt(6); i > 0; i--) {
      String token = word(random, 4);
      if (!tiny.added.containsKey(token)) {
        tiny.add(token, flags(random));
        tokens.add(token);
      }
    }
    if (!isOpened(tiny)) {
      return;
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

  private static boolean isOpened(TinyTokenizer tiny) {
    try {
      JsonStructure.read(Path.of("tokenizer.json"), tiny.json().toString());
      return true;
    } catch (TokenizerException e) {
      assertThat(e).hasMessageContaining("takes whitespace in front of it");
      return false;
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
