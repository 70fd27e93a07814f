package io.kvasir.tokens.tokenizer;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.testing.harness.Await;
import io.kvasir.testing.harness.Fuzz;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.assertj.core.api.AbstractStringAssert;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Damaged {@code tokenizer.json} files: opening gives a tokenizer or an exception that names the
 * file, a text its ids or an exception, in time.
 *
 * <p>Files are opened by a process that serves many of them, since the trial that comes first in
 * production takes a process and a second for each. A file that ends this process, or is late, must
 * be one that the trial refuses; some of the others go the way of production.
 */
@Tag("fuzz")
class TokenizerFileFuzzTest {

  /** One of so many files that can be opened is opened as in production. */
  private static final int TRIED = 200;

  /** Of a case: half of the usual one for a late answer, and the minute of a trial that hangs. */
  private static final Duration LIMIT = Await.limit().multipliedBy(3);

  private static final byte[][] TOKENS =
      Arrays.stream(
              new String[] {
                "{", "}", "[", "]", "\"", ",", ":", "null", "1e999", "\\u0000", "\\ud83d", "-", "\0"
              })
          .map(token -> token.getBytes(UTF_8))
          .toArray(byte[][]::new);

  @TempDir private Path folder;
  private final Map<OpeningProcess.Outcome, Integer> outcomes =
      new EnumMap<>(OpeningProcess.Outcome.class);
  private OpeningProcess opening;

  @AfterEach
  void end() {
    opening.close();
  }

  @Test
  void aDamagedFileIsATokenizerOrRefused() throws Exception {
    opening = OpeningProcess.start(folder);
    List<TinyTokenizer> kinds = List.copyOf(SegmentedTokenizerTest.kinds().values());
    Path file = folder.resolve("tokenizer.json");
    for (TinyTokenizer valid : kinds) {
      OpeningProcess.Answer answer = opening.ask(valid.write(folder), "the text");
      assertThat(answer.outcome()).as(answer.message()).isEqualTo(OpeningProcess.Outcome.IDS);
    }
    Fuzz.run(
        "tokenizer files",
        LIMIT,
        random -> {
          Files.write(file, damaged(random, kinds.get(random.nextInt(kinds.size())).json()));
          check(random, file);
        });
    System.out.println("tokenizer files: " + outcomes);
  }

  private static byte[] damaged(Random random, ObjectNode valid) {
    ObjectNode tree = valid.deepCopy();
    JsonMutations.mutate(random, tree);
    byte[] bytes = tree.toString().getBytes(UTF_8);
    return switch (random.nextInt(8)) {
      case 0 -> Fuzz.mutated(random, bytes, TOKENS);
      case 1 -> Arrays.copyOf(bytes, random.nextInt(bytes.length));
      default -> bytes;
    };
  }

  private void check(Random random, Path file) throws Exception {
    String text = MixedText.of(random, random.nextInt(300));
    OpeningProcess.Answer answer = opening.ask(file, text);
    outcomes.merge(answer.outcome(), 1, Integer::sum);
    switch (answer.outcome()) {
      case IDS -> {
        assertThat(answer.message()).doesNotContain("-");
        if (random.nextInt(TRIED) == 0) {
          checkAsInProduction(file, text, answer.message());
        }
      }
      case REFUSED -> assertMessage(answer.message()).startsWith(file + ": ");
      case TEXT_REFUSED -> assertMessage(answer.message());
      case FAILED -> throw new AssertionError(answer.message());
      case ENDED, LATE -> {
        opening.close();
        opening = OpeningProcess.start(folder);
        assertThatThrownBy(() -> TokenizerTrial.run(file, Files.readAllBytes(file)))
            .isInstanceOf(TokenizerException.class)
            .hasMessageStartingWith(file + ": ")
            .hasMessageNotContaining("\n");
      }
    }
  }

  /** Names no class; a token in backticks is of the file, where a text in Java may have been. */
  private static AbstractStringAssert<?> assertMessage(String message) {
    assertThat(message.replaceAll("`.*`", "")).doesNotContain("java.");
    return assertThat(message).isNotBlank().doesNotContain("\n");
  }

  /** The trial refuses more than the process did, such as patterns that take too long. */
  private static void checkAsInProduction(Path file, String text, String ids) throws Exception {
    ModelTokenizer[] opened = {null};
    Throwable refused = catchThrowable(() -> opened[0] = SegmentedTokenizer.open(file, 1 << 16));
    if (refused != null) {
      assertThat(refused)
          .isInstanceOf(TokenizerException.class)
          .hasMessageStartingWith(file + ": ");
      return;
    }
    try (ModelTokenizer tokenizer = opened[0]) {
      assertThat(Arrays.toString(tokenizer.encode(text, true))).isEqualTo(ids);
    }
  }
}
