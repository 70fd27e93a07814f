package io.kvasir.tokens.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.testing.harness.LongRuns;
import io.kvasir.tokens.PythonProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The ids of each kind of tokenizer are those of Python's package {@code tokenizers}. */
@Tag("process")
class PythonTokenizersTest {

  /** For each kind of tokenizer: a mebibyte for all of them, or in the long form for each. */
  private static final int CHARS = LongRuns.cases(1 << 17, 1 << 20);

  private static final int LONGEST_TEXT = 1 << 15;

  @TempDir private Path folder;

  @Test
  void idsAreThoseOfPythonsTokenizers() throws Exception {
    Optional<String> missing =
        PythonProcess.missing(
            "import tokenizers", "python3 has no package tokenizers to compare with");
    assumeTrue(missing.isEmpty(), missing.orElse(""));
    long seed = Long.getLong("kvasir.test.seed", 20261127L);
    System.out.println("-Dkvasir.test.seed=" + seed);
    List<String> texts = texts(new Random(seed));
    try (PythonProcess python = PythonProcess.start("token_ids.py")) {
      for (var kind : SegmentedTokenizerTest.kinds().entrySet()) {
        Path own = Files.createTempDirectory(folder, "kind");
        Path file = kind.getValue().write(own);
        try (ModelTokenizer tokenizer = SegmentedTokenizer.open(own, 1 << 20)) {
          for (boolean special : List.of(true, false)) {
            JsonNode expected =
                python
                    .ask(Map.of("file", file.toString(), "texts", texts, "special", special))
                    .get("ids");
            for (int i = 0; i < texts.size(); i++) {
              JsonNode ids =
                  PythonProcess.JSON.valueToTree(tokenizer.encode(texts.get(i), special));
              assertThat(ids)
                  .as("%s, text %d, special tokens %s", kind.getKey(), i, special)
                  .isEqualTo(expected.get(i));
            }
          }
        }
      }
    }
  }

  /** Texts of all lengths. Python has no broken UTF-16. */
  private static List<String> texts(Random random) {
    List<String> texts = new ArrayList<>(List.of(""));
    int chars = 0;
    for (int length = 1; chars < CHARS; length = length < LONGEST_TEXT ? 2 * length : length) {
      String text = WellFormed.of(MixedText.of(random, length));
      texts.add(text);
      chars += text.length();
    }
    return texts;
  }
}
