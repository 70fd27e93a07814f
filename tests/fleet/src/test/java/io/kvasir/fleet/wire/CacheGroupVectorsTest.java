package io.kvasir.fleet.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.fleet.index.CopyCounts;
import io.kvasir.fleet.index.NativePrefixIndex;
import io.kvasir.fleet.index.RankMatches;
import io.kvasir.fleet.router.HitCorrection;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import io.kvasir.model.RankId;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** What an engine reuses by its block events: copies, cache groups, corrections of hits. */
class CacheGroupVectorsTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final RankId RANK = new RankId(1, 0);

  private static JsonNode read(String file) throws IOException {
    Path vectors = Path.of(System.getProperty("kvasir.root")).resolve("tests/vectors");
    return JSON.readTree(vectors.resolve(file).toFile());
  }

  private static Stream<DynamicTest> each(JsonNode vectors, Consumer<JsonNode> check) {
    return StreamSupport.stream(vectors.get("cases").spliterator(), false)
        .map(one -> dynamicTest(one.get("id").asText(), () -> check.accept(one)));
  }

  @TestFactory
  Stream<DynamicTest> prefixesByTheGroupsOfACache() throws IOException {
    JsonNode vectors = read("cache-groups.json");
    int size = vectors.get("blockSize").asInt();
    return each(vectors, one -> replay(one, size));
  }

  private static void replay(JsonNode one, int size) {
    WireDecoder decoder = new WireDecoder();
    RankEvents events = new RankEvents(size, null);
    try (CopyCounts index =
        new CopyCounts(new NativePrefixIndex(HashFormat.KVASIR, size, 16 << 20))) {
      int number = 0;
      for (JsonNode step : one.get("steps")) {
        if (step.has("events")) {
          byte[] payload = Packed.batch(maps(step.get("events")).toArray());
          decoder.decode(payload, 0, payload.length, events);
          events.take().forEach(event -> index.apply(RANK, event));
        } else {
          assertThat(matched(index, JSON.convertValue(step.get("prompt"), int[].class), size))
              .as("step %d: %s", number, step)
              .isEqualTo(step.get("blocks").asInt());
        }
        number++;
      }
    }
  }

  private static List<Map<String, Object>> maps(JsonNode events) {
    return JSON.convertValue(events, new TypeReference<>() {});
  }

  private static int matched(CopyCounts index, int[] prompt, int size) {
    long[] hashes =
        NativeBlockHasher.of(HashFormat.KVASIR, size).hash(prompt, CacheScope.NONE).sequence();
    RankMatches matches = new RankMatches();
    index.match(hashes, hashes.length, matches);
    return matches.blocks(RANK);
  }

  @TestFactory
  Stream<DynamicTest> corrections() throws IOException {
    JsonNode vectors = read("hit-corrections.json");
    int size = vectors.get("tokensPerBlock").asInt();
    return each(
        vectors,
        one -> {
          HitCorrection correction =
              new HitCorrection(
                  one.get("endTokens").asInt(),
                  one.get("unitBlocks").asInt(),
                  one.get("lostBlocks").asInt(),
                  one.get("smallestBlocks").asInt());
          for (JsonNode probe : one.get("probes")) {
            assertThat(correction.blocks(probe.get(0).asInt(), probe.get(1).asInt(), size))
                .as(probe.toString())
                .isEqualTo(probe.get(2).asInt());
          }
        });
  }
}
