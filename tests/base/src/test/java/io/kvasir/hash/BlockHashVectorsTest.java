package io.kvasir.hash;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.model.CacheScope;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/** The conformance vectors that {@code block_hash_test.cpp} and {@code xxh3_test.cpp} read too. */
@Tag("jdk")
class BlockHashVectorsTest {

  private static final Path VECTORS =
      Path.of(System.getProperty("kvasir.root"), "tests", "vectors", "block-hashes.json");

  @TestFactory
  Stream<DynamicTest> vectors() throws IOException {
    JsonNode cases = new ObjectMapper().readTree(VECTORS.toFile());
    assertThat(cases).isNotEmpty();
    return StreamSupport.stream(cases.spliterator(), false)
        .map(vector -> DynamicTest.dynamicTest(vector.get("id").asText(), () -> check(vector)));
  }

  private static void check(JsonNode vector) {
    String rule = vector.get("rule").asText();
    switch (rule) {
      case "xxh3" -> {
        byte[] bytes = HexFormat.of().parseHex(vector.get("hex").asText());
        assertThat(Xxh3.hash(bytes, word(vector.get("seed")))).isEqualTo(only(vector, "hash"));
      }
      case "blocks" -> checkBlocks(vector);
      case "trtllm-block" -> {
        int[] tokens = tokens(vector);
        long parent = word(vector.get("parent"));
        assertThat(TrtllmBlockKeys.ofBlock(tokens, 0, tokens.length, parent, CacheScope.NONE))
            .isEqualTo(only(vector, "sequence"));
      }
      case "trtllm-prompt" ->
          assertThat(
                  TrtllmBlockKeys.ofPrompt(
                      tokens(vector), vector.get("tokensPerBlock").asInt(), CacheScope.NONE))
              .containsExactly(words(vector.get("sequence")));
      case "trtllm-prompt-blocks" ->
          assertThat(
                  TrtllmBlockKeys.promptBlocks(
                      vector.get("count").asInt(), vector.get("tokensPerBlock").asInt()))
              .isEqualTo(vector.get("blocks").asInt());
      case "salt-id" ->
          assertThat(CacheScope.saltId(vector.get("text").asText()))
              .isEqualTo(only(vector, "hash"));
      default -> throw new AssertionError("no such rule: " + rule);
    }
  }

  private static void checkBlocks(JsonNode vector) {
    HashFormat format = HashFormat.parse(vector.get("format").asText());
    int tokensPerBlock = vector.get("tokensPerBlock").asInt();
    CacheScope scope =
        new CacheScope(
            vector.has("lora"),
            word(vector.path("lora")),
            vector.has("salt"),
            word(vector.path("salt")));
    BlockHashes oracle = HashOracle.hash(format, tokensPerBlock, tokens(vector), scope);
    BlockHashes actual = NativeBlockHasher.of(format, tokensPerBlock).hash(tokens(vector), scope);
    for (BlockHashes hashes : List.of(oracle, actual)) {
      assertThat(hashes.local()).containsExactly(words(vector.get("local")));
      assertThat(hashes.sequence()).containsExactly(words(vector.get("sequence")));
    }
  }

  private static int[] tokens(JsonNode vector) {
    long start = vector.get("start").asLong();
    long step = vector.get("step").asLong();
    return IntStream.range(0, vector.get("count").asInt())
        .map(i -> (int) (start + i * step))
        .toArray();
  }

  private static long word(JsonNode node) {
    return node.isMissingNode() ? 0 : Long.parseUnsignedLong(node.asText());
  }

  private static long[] words(JsonNode array) {
    List<Long> words = new ArrayList<>();
    array.forEach(node -> words.add(word(node)));
    return words.stream().mapToLong(Long::longValue).toArray();
  }

  private static long only(JsonNode vector, String field) {
    assertThat(vector.get(field)).hasSize(1);
    return word(vector.get(field).get(0));
  }
}
