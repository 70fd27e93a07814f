package io.kvasir.fleet.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Payloads of a real encoder, of every generation of the three engines. */
class WireVectorsTest {

  @TestFactory
  Stream<DynamicTest> vectors() throws IOException {
    Path root = Path.of(System.getProperty("kvasir.root"));
    JsonNode vectors =
        new ObjectMapper().readTree(root.resolve("tests/vectors/engine-events.json").toFile());
    return StreamSupport.stream(vectors.get("payloads").spliterator(), false)
        .map(vector -> dynamicTest(vector.get("id").asText(), () -> check(vector)));
  }

  private static void check(JsonNode vector) {
    byte[] payload = HexFormat.of().parseHex(vector.get("payload").asText());
    List<String> expected =
        StreamSupport.stream(vector.get("expected").spliterator(), false)
            .map(JsonNode::asText)
            .toList();
    assertThat(Transcript.of(payload, false)).isEqualTo(expected);
    assertThat(WireOracle.of(payload)).isEqualTo(Transcript.of(payload, true));
    assertPartsAreMalformed(payload, expected);
  }

  /** Without its end, a payload is malformed, but the events in front of the cut are passed. */
  private static void assertPartsAreMalformed(byte[] payload, List<String> expected) {
    for (int length = 0; length < payload.length; length++) {
      List<String> lines = Transcript.of(Arrays.copyOf(payload, length), false);
      assertThat(lines).endsWith("skipped MALFORMED");
      for (int i = 1; i < lines.size() - 1; i++) {
        assertThat(lines.get(i)).isEqualTo(expected.get(i));
      }
    }
  }
}
