package io.kvasir.tokens.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.tokens.PythonProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A {@code tokenizer.model} of SentencePiece without a {@code tokenizer.json}. */
class SentencePieceTest {

  private static final String LLAMA = "{\"tokenizer_class\":\"LlamaTokenizer\"%s}";
  private static final Path VECTORS = PythonProcess.TESTS.resolve("vectors/sentencepiece");

  @TempDir private Path folder;

  private ModelTokenizer open(String kind, String more) throws Exception {
    Files.copy(VECTORS.resolve(kind + ".model"), folder.resolve("tokenizer.model"));
    Files.writeString(folder.resolve("tokenizer_config.json"), LLAMA.formatted(more));
    return SegmentedTokenizer.open(folder, 1 << 20);
  }

  private static JsonNode vectors() throws IOException {
    return new ObjectMapper().readTree(VECTORS.resolve("ids.json").toFile());
  }

  @Test
  void pairsGiveTheIdsOfSentencePiece() throws Exception {
    JsonNode vectors = vectors();
    try (ModelTokenizer tokenizer = open("bpe", "")) {
      for (int i = 0; i < vectors.path("texts").size(); i++) {
        String text = vectors.path("texts").path(i).asText();
        int[] expected = ids(vectors.path("bpe").path(i));
        assertThat(tokenizer.encode(text, false)).as(text).isEqualTo(expected);
        int[] framed = new int[expected.length + 1];
        framed[0] = 1; // <s>
        System.arraycopy(expected, 0, framed, 1, expected.length);
        assertThat(tokenizer.encode(text, true)).as(text).isEqualTo(framed);
      }
    }
  }

  /** Two divisions can be equally probable: runs of spaces in another order. */
  @Test
  void probabilitiesGiveTheIdsOfSentencePieceOrEquallyProbableOnes() throws Exception {
    JsonNode vectors = vectors();
    int equal = 0;
    try (ModelTokenizer tokenizer = open("unigram", "")) {
      for (int i = 0; i < vectors.path("texts").size(); i++) {
        String text = vectors.path("texts").path(i).asText();
        int[] expected = ids(vectors.path("unigram").path(i));
        int[] actual = tokenizer.encode(text, false);
        equal += Arrays.equals(actual, expected) ? 1 : 0;
        assertThat(Arrays.stream(actual).sorted())
            .as(text)
            .containsExactly(Arrays.stream(expected).sorted().boxed().toArray(Integer[]::new));
      }
    }
    assertThat(equal).isGreaterThan(vectors.path("texts").size() * 9 / 10);
  }

  private static int[] ids(JsonNode from) {
    return new ObjectMapper().convertValue(from, int[].class);
  }

  /** As engines do: legacy tokenizers begin each part with a space, others the first one only. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void tokensThatTextsAreCutAtAreWhole(boolean legacy) throws Exception {
    String settings = ",\"legacy\":" + legacy + ",\"add_eos_token\":true";
    try (ModelTokenizer tokenizer = open("bpe", settings)) {
      int[] parts = tokenizer.encode("hello</s>hello", true);
      int cut = find(parts, 2, 1);
      assertThat(parts).startsWith(1).endsWith(2);
      assertThat(Arrays.copyOfRange(parts, 1, cut)).isEqualTo(tokenizer.encode("hello", false));
      int[] second = Arrays.copyOfRange(parts, cut + 1, parts.length - 1);
      assertThat(Arrays.equals(second, tokenizer.encode("hello", false))).isEqualTo(legacy);
    }
  }

  private static int find(int[] ids, int id, int from) {
    for (int i = from; i < ids.length; i++) {
      if (ids[i] == id) {
        return i;
      }
    }
    throw new AssertionError(Arrays.toString(ids));
  }

  @Test
  void otherClassesAreRefused() throws Exception {
    Files.copy(VECTORS.resolve("bpe.model"), folder.resolve("tokenizer.model"));
    assertThatThrownBy(() -> SegmentedTokenizer.open(folder, 1 << 20))
        .isInstanceOf(TokenizerException.class)
        .hasMessageContaining("with tokenizer_class LlamaTokenizer, not ''");
    Files.writeString(
        folder.resolve("tokenizer_config.json"), LLAMA.replace("Llama", "T5").formatted(""));
    assertThatThrownBy(() -> SegmentedTokenizer.open(folder, 1 << 20))
        .isInstanceOf(TokenizerException.class)
        .hasMessageContaining("not 'T5Tokenizer'");
  }

  @Test
  void damagedModelsAreRefused() throws Exception {
    byte[] model = Files.readAllBytes(VECTORS.resolve("unigram.model"));
    Random random = new Random(35);
    int refused = 0;
    for (int i = 0; i < 2_000; i++) {
      byte[] bad =
          Arrays.copyOf(model, i % 2 == 0 ? random.nextInt(1, model.length) : model.length);
      for (int change = random.nextInt(1, 4); change > 0; change--) {
        bad[random.nextInt(bad.length)] = (byte) random.nextInt();
      }
      try {
        assertThat(SentencePieceModel.read(folder, bad).pieces()).isNotEmpty();
      } catch (TokenizerException e) {
        refused++;
      }
    }
    assertThat(refused).isPositive();
  }
}
