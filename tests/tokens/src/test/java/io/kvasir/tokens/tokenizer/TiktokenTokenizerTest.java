package io.kvasir.tokens.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.knuddels.jtokkit.Encodings;
import com.knuddels.jtokkit.api.Encoding;
import com.knuddels.jtokkit.api.EncodingType;
import io.kvasir.testing.harness.LongRuns;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tiktoken files give the ids of jtokkit, and of patterns that jtokkit lacks what they define. */
class TiktokenTokenizerTest {

  private static final int IM_START = 300_000;
  private static final int IM_END = 300_001;

  @TempDir private Path folder;

  /** The ranks of a real vocabulary. */
  static Path real(Path folder, String name) throws IOException {
    Path file = folder.resolve(name + ".tiktoken");
    try (InputStream ranks =
        Encodings.class.getResourceAsStream("/com/knuddels/jtokkit/" + name + ".tiktoken")) {
      Files.copy(ranks, file);
    }
    return file;
  }

  private static void config(Path folder, String more) throws IOException {
    Files.writeString(
        folder.resolve("tokenizer_config.json"),
        "{\"added_tokens_decoder\":{\"300000\":{\"content\":\"<|im_start|>\"},"
            + "\"300001\":{\"content\":\"<|im_end|>\",\"special\":true}}"
            + more
            + "}");
  }

  @ParameterizedTest
  @CsvSource({"cl100k_base", "o200k_base"})
  void realVocabulariesGiveTheIdsOfJtokkit(String name) throws Exception {
    real(folder, name);
    config(folder, "");
    Encoding reference =
        Encodings.newDefaultEncodingRegistry()
            .getEncoding(EncodingType.fromName(name).orElseThrow());
    long seed = Long.getLong("kvasir.test.seed", 20261127L);
    System.out.println("-Dkvasir.test.seed=" + seed);
    String text = MixedText.of(new Random(seed), LongRuns.cases(1 << 19, 1 << 20));
    try (ModelTokenizer tokenizer = ModelTokenizer.open(folder)) {
      assertThat(tokenizer.encode(text, true)).isEqualTo(expected(reference, WellFormed.of(text)));
      for (String run : List.of(" ", "a", "A", "\n", "中", "1", ".", "\u0301", "ab", " \n")) {
        String longRun = run.repeat(3_000) + "x";
        assertThat(tokenizer.encode(longRun, false)).isEqualTo(expected(reference, longRun));
      }
    }
  }

  private static int[] expected(Encoding reference, String text) {
    List<Integer> ids = new ArrayList<>();
    String[] turns = text.split("(?=<\\|im_(?:start|end)\\|>)|(?<=<\\|im_(?:start|end)\\|>)", -1);
    for (String turn : turns) {
      if (turn.equals("<|im_start|>")) {
        ids.add(IM_START);
      } else if (turn.equals("<|im_end|>")) {
        ids.add(IM_END);
      } else {
        for (int id : reference.encodeOrdinary(turn).toArray()) {
          ids.add(id);
        }
      }
    }
    return ids.stream().mapToInt(Integer::intValue).toArray();
  }

  @Test
  void segmentsHaveTheIdsOfTheWholeText() throws Exception {
    real(folder, "cl100k_base");
    config(folder, ",\"add_bos_token\":true,\"bos_token\":{\"content\":\"<|im_start|>\"}");
    Random random = new Random(11);
    try (SegmentedTokenizer segmented = SegmentedTokenizer.open(folder, 1 << 24);
        ModelTokenizer whole = ModelTokenizer.open(folder)) {
      for (int i = 0; i < 200; i++) {
        String text = MixedText.of(random, 1 + random.nextInt(3_000));
        int[] ids = segmented.encode(text, true);
        assertThat(ids).isEqualTo(whole.encode(text, true)).startsWith(IM_START);
        assertThat(Arrays.copyOfRange(ids, 1, ids.length)).isEqualTo(segmented.encode(text, false));
      }
      assertThat(segmented.cachedChars()).isPositive();
    }
  }

  /** A vocabulary of bytes, and of some longer tokens. */
  private Path bytes(String name, String... tokens) throws IOException {
    StringBuilder file = new StringBuilder();
    Base64.Encoder base64 = Base64.getEncoder();
    for (int b = 0; b < 256; b++) {
      file.append(base64.encodeToString(new byte[] {(byte) b})).append(' ').append(b).append('\n');
    }
    int rank = 256;
    for (String token : tokens) {
      String encoded = base64.encodeToString(token.getBytes(StandardCharsets.UTF_8));
      file.append(encoded).append(' ').append(rank++).append('\n');
    }
    Path path = folder.resolve(name);
    Files.writeString(path, file);
    return path;
  }

  @Test
  void kimiDividesHanWordsLongRunsAndReservesTokens() throws Exception {
    bytes("tiktoken.model", "中a", "aa", "aaaa", "b ");
    config(folder, ",\"tokenizer_class\":\"TikTokenTokenizer\"");
    try (ModelTokenizer tokenizer = ModelTokenizer.open(folder)) {
      assertThat(tokenizer.encode("中a", false)).as("Han is a word of its own").hasSize(4);
      assertThat(tokenizer.encode("x<|reserved_token_400|>y", false))
          .containsExactly('x', 400, 'y');
      assertThat(tokenizer.encode("aaaaa", false)).containsExactly(258, 'a');
      int[] ids = tokenizer.encode("a".repeat(25_001) + " " + "\ud83d", false);
      assertThat(ids).hasSize(6_250 + 1 + 4);
      assertThat(ids[6_249]).isEqualTo(258);
      assertThat(ids[6_250]).as("a run of 25,000 ends").isEqualTo('a');
    }
  }

  @Test
  void qwenNormalisesTheWholeTextFirst() throws Exception {
    bytes("qwen.tiktoken", "\u00e9");
    config(folder, "");
    try (SegmentedTokenizer tokenizer = SegmentedTokenizer.open(folder, 1 << 20)) {
      assertThat(tokenizer.encode("e\u0301", false)).containsExactly(256);
      assertThat(tokenizer.encode("<|im_end|>\u0338", false))
          .as("the last > is composed")
          .hasSize(12);
      assertThat(tokenizer.encode("<|im_end|>12", false)).containsExactly(IM_END, '1', '2');
      assertThatThrownBy(() -> tokenizer.encode("e" + "\u0301".repeat(1_001), false))
          .isInstanceOf(TokenizerException.class)
          .hasMessageContaining("combining marks");
    }
  }

  @Test
  void whatIsUnknownIsRefusedWithAReason() throws Exception {
    Path file = bytes("tiktoken.model");
    refused("has an unknown pattern: neither its name nor tokenizer_class '' is known");
    config(folder, ",\"tokenizer_class\":\"TikTokenTokenizer\",\"add_bos_token\":true");
    refused("adds bos_token '', which is no added token");
    Files.writeString(
        folder.resolve("tokenizer_config.json"), "{\"tokenizer_class\":\"TikTokenTokenizer\"}");
    refused("has unknown special tokens");
    Files.writeString(
        folder.resolve("tokenizer_config.json"),
        "{\"tokenizer_class\":\"TikTokenTokenizer\",\"added_tokens_decoder\":"
            + "{\"65\":{\"content\":\"<s>\"}}}");
    refused("<s> has the id of another token");
    Files.writeString(
        folder.resolve("tokenizer_config.json"),
        "{\"added_tokens_decoder\":{\"650\":{\"content\":\"<s>\",\"lstrip\":true}}}");
    refused("has lstrip");
    config(folder, ",\"tokenizer_class\":\"TikTokenTokenizer\"");
    String good = Files.readString(file);
    for (String bad :
        List.of(
            "x", "YQ==", "YQ== ", "YQ== 97 ", "YQ== -1", "YQ== 99999999999", "YQ== 300", "= 300")) {
      Files.writeString(file, good + bad);
      assertThatThrownBy(() -> ModelTokenizer.open(folder))
          .as(bad)
          .isInstanceOf(TokenizerException.class)
          .hasMessageStartingWith(file + ": ");
    }
    Files.writeString(file, good.substring(good.indexOf('\n') + 1));
    refused("has no token for the byte 0");
    Files.delete(file);
    Files.write(folder.resolve("tokenizer.model"), new byte[] {'\n', 14, '\n', 5, '<', 'u', 'n'});
    refused("is a SentencePiece model, which needs the tokenizer.json");
  }

  private void refused(String reason) {
    assertThatThrownBy(() -> ModelTokenizer.open(folder))
        .isInstanceOf(TokenizerException.class)
        .hasMessageContaining(reason);
  }
}
