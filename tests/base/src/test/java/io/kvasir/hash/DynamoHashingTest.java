package io.kvasir.hash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.model.CacheScope;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

class DynamoHashingTest {

  private static final Path VECTORS =
      Path.of(System.getProperty("kvasir.root"), "tests", "vectors", "dynamo-hashes.json");

  @TestFactory
  Stream<DynamicTest> vectors() throws IOException {
    JsonNode cases = new ObjectMapper().readTree(VECTORS.toFile());
    assertThat(cases).isNotEmpty();
    return StreamSupport.stream(cases.spliterator(), false)
        .map(vector -> DynamicTest.dynamicTest(vector.get("id").asText(), () -> check(vector)));
  }

  private static void check(JsonNode vector) {
    switch (vector.get("rule").asText()) {
      case "prompt" -> checkPrompt(vector);
      case "blocks" ->
          assertThat(hashing(vector).blocks(vector.get("tokens").asInt()))
              .isEqualTo(vector.get("blocks").asInt());
      case "multimodal-id" ->
          assertThat(MultimodalSpan.hashOf(vector.get("text").asText()))
              .isEqualTo(
                  vector.has("hash")
                      ? OptionalLong.of(word(vector.get("hash")))
                      : OptionalLong.empty());
      case "pad-token" ->
          assertThat(MultimodalSpan.padToken(word(vector.get("hash"))))
              .isEqualTo(vector.get("token").asInt());
      default -> throw new AssertionError("no such rule: " + vector);
    }
  }

  private static void checkPrompt(JsonNode vector) {
    DynamoHashing hashing = hashing(vector);
    long seed = hashing.scopeSeed(text(vector, "namespace"), text(vector, "lora"));
    if (vector.has("seed")) {
      assertThat(seed).isEqualTo(word(vector.get("seed")));
    }
    int start = vector.get("start").asInt();
    int step = vector.get("step").asInt();
    int[] tokens =
        IntStream.range(0, vector.get("count").asInt()).map(i -> start + i * step).toArray();
    List<MultimodalSpan> spans = new ArrayList<>();
    for (JsonNode span : vector.path("spans")) {
      spans.add(new MultimodalSpan(span.get(0).asInt(), span.get(1).asInt(), word(span.get(2))));
    }
    long[] local = hashing.localHashes(tokens, seed, spans);
    assertThat(local).containsExactly(words(vector.get("local")));
    if (vector.has("sequence")) {
      assertThat(hashing.sequenceHashes(local)).containsExactly(words(vector.get("sequence")));
    }
  }

  private static DynamoHashing hashing(JsonNode vector) {
    int tokensPerBlock = vector.get("tokensPerBlock").asInt();
    DynamoHashing hashing =
        "salted".equals(vector.path("generation").asText())
            ? DynamoHashing.salted(tokensPerBlock)
            : DynamoHashing.classic(tokensPerBlock);
    return vector.path("eagle").asBoolean() ? hashing.withOverlap() : hashing;
  }

  private static String text(JsonNode vector, String field) {
    return vector.has(field) ? vector.get(field).asText() : null;
  }

  private static long word(JsonNode node) {
    return Long.parseUnsignedLong(node.asText());
  }

  private static long[] words(JsonNode array) {
    return StreamSupport.stream(array.spliterator(), false)
        .mapToLong(DynamoHashingTest::word)
        .toArray();
  }

  @Test
  void theClassicHashesAreThoseOfTheNativeFormat() {
    int[] tokens = IntStream.range(-7, 100).toArray();
    DynamoHashing hashing = DynamoHashing.classic(8);
    BlockHashes expected =
        NativeBlockHasher.of(HashFormat.DYNAMO, 8)
            .hash(tokens, CacheScope.NONE.withLora(Xxh3.loraTaskId("a")));
    long[] local = hashing.localHashes(tokens, hashing.scopeSeed(null, "a"));
    assertThat(local).isEqualTo(expected.local());
    assertThat(hashing.sequenceHashes(local)).isEqualTo(expected.sequence());
  }

  @Test
  void anObjectEntersEveryBlockThatHasATokenOfIt() {
    DynamoHashing hashing = DynamoHashing.classic(4);
    int[] tokens = IntStream.range(0, 16).toArray();
    long[] plain = hashing.localHashes(tokens, 1337);
    long[] local = hashing.localHashes(tokens, 1337, List.of(new MultimodalSpan(7, 9, -5)));
    assertThat(local[0]).isEqualTo(plain[0]);
    assertThat(local[1]).isNotEqualTo(plain[1]);
    assertThat(local[2]).isNotEqualTo(plain[2]);
    assertThat(local[3]).isEqualTo(plain[3]);
  }

  @Test
  void objectsAscendAsUnsignedNumbers() {
    byte[] bytes = new byte[20];
    bytes[4] = 3;
    Arrays.fill(bytes, 12, 20, (byte) -1);
    long[] local =
        DynamoHashing.classic(1)
            .localHashes(
                new int[1],
                1337,
                List.of(new MultimodalSpan(0, 1, -1), new MultimodalSpan(0, 9, 3)));
    assertThat(local).containsExactly(Xxh3.hash(bytes, 1337));
  }

  @Test
  void namesAreQuotedInTheirShortestForm() {
    String json = "{\"salt\":\"a\\\"\\\\\\n\\u0001\u00fc\",\"lora_name\":\"\\t/\"}";
    assertThat(DynamoHashing.salted(4).scopeSeed("a\"\\\n\u0001\u00fc", "\t/"))
        .isEqualTo(Xxh3.hash(json.getBytes(StandardCharsets.UTF_8), 0));
  }

  @Test
  void whatIsOutOfRangeIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> DynamoHashing.classic(0))
        .withMessage("tokensPerBlock must be at least 1, not 0");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> DynamoHashing.classic(4).scopeSeed("tenant", null))
        .withMessage("cacheNamespace needs the scope rule JSON");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new MultimodalSpan(3, 3, 1))
        .withMessage("from must be at least 0 and below to, not 3 with to 3");
  }
}
