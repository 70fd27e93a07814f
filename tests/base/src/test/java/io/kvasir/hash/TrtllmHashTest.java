package io.kvasir.hash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.model.CacheScope;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

class TrtllmHashTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  @TestFactory
  Stream<DynamicTest> vectors() throws IOException {
    Path root = Path.of(System.getProperty("kvasir.root"));
    JsonNode vectors = JSON.readTree(root.resolve("tests/vectors/trtllm-keys.json").toFile());
    return StreamSupport.stream(vectors.spliterator(), false)
        .map(vector -> dynamicTest(vector.get("id").asText(), () -> check(vector)));
  }

  private static void check(JsonNode vector) {
    CacheScope scope =
        new CacheScope(
            vector.has("lora"),
            Long.parseUnsignedLong(vector.path("lora").asText("0")),
            vector.has("salt"),
            Long.parseUnsignedLong(vector.path("salt").asText("0")));
    long from = vector.path("from").asLong();
    int[] prompt =
        IntStream.range(0, vector.path("count").asInt()).map(i -> (int) (from + i)).toArray();
    int tokensPerBlock = vector.path("tokensPerBlock").asInt();
    switch (vector.get("rule").asText()) {
      case "root" ->
          assertThat(HexFormat.of().formatHex(TrtllmSha256Keys.root(scope)))
              .isEqualTo(vector.get("expected").asText());
      case "digests" -> {
        byte[] digests = TrtllmSha256Keys.ofPrompt(prompt, tokensPerBlock, scope);
        List<String> hex =
            IntStream.range(0, digests.length / TrtllmSha256Keys.DIGEST_BYTES)
                .mapToObj(i -> Arrays.copyOfRange(digests, i * 32, (i + 1) * 32))
                .map(HexFormat.of()::formatHex)
                .toList();
        assertThat(JSON.<JsonNode>valueToTree(hex)).isEqualTo(vector.get("expected"));
        assertThat(TrtllmHash.V2_SHA256.keys(prompt, tokensPerBlock, scope))
            .containsExactly(
                hex.stream()
                    .mapToLong(d -> Long.parseUnsignedLong(d.substring(0, 16), 16))
                    .toArray());
      }
      case "short" -> checkNumbers(vector, TrtllmHash.V2_SHA256_64, prompt, scope);
      case "v1" -> checkNumbers(vector, TrtllmHash.V1_BLOCK_KEY, prompt, scope);
      default -> throw new AssertionError(vector);
    }
  }

  private static void checkNumbers(
      JsonNode vector, TrtllmHash hash, int[] prompt, CacheScope scope) {
    long[] keys = hash.keys(prompt, vector.get("tokensPerBlock").asInt(), scope);
    List<String> numbers = Arrays.stream(keys).mapToObj(Long::toUnsignedString).toList();
    assertThat(JSON.<JsonNode>valueToTree(numbers)).isEqualTo(vector.get("expected"));
  }

  @Test
  void bothNamesAreUnderstood() {
    for (TrtllmHash hash : TrtllmHash.values()) {
      assertThat(TrtllmHash.named(hash.algorithm())).isEqualTo(hash);
      assertThat(TrtllmHash.named(hash.id())).isEqualTo(hash);
    }
    assertThat(TrtllmHash.named("auto")).isEqualTo(TrtllmHash.V1_BLOCK_KEY);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> TrtllmHash.named("md5"))
        .withMessageContaining("v2_sha256_64")
        .withMessageContaining("md5");
  }

  /** B17: adapter and salt are part of every way of naming, so a router and an engine agree. */
  @Test
  void adapterAndSaltEnterEveryName() {
    int[] prompt = IntStream.range(0, 9).toArray();
    List<CacheScope> scopes =
        List.of(
            CacheScope.NONE,
            CacheScope.NONE.withLora(0),
            CacheScope.NONE.withLora(7),
            CacheScope.NONE.withSalt("a"),
            CacheScope.NONE.withSalt("a").withLora(7));
    for (TrtllmHash hash : TrtllmHash.values()) {
      assertThat(scopes.stream().map(scope -> hash.keys(prompt, 4, scope)[0]))
          .as("%s", hash)
          .doesNotHaveDuplicates();
    }
  }

  @Test
  void tooLongABlockNeedsNoMoreMemoryThanThePrompt() {
    assertThat(TrtllmHash.V2_SHA256.keys(new int[] {1, 2, 3}, Integer.MAX_VALUE, CacheScope.NONE))
        .hasSize(1);
  }
}
