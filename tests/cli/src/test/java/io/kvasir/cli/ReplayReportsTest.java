package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.kvasir.testing.trace.SharedTraces;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Replays give the reports in the folder {@code replays}, except for {@code wallSeconds} and the
 * build: no change of the code alters a decision unseen. KVASIR_UPDATE_GOLDEN=1 rewrites the
 * reports that differ, to be reviewed before they are committed.
 */
class ReplayReportsTest {

  private static final Path FOLDER =
      Path.of(System.getProperty("kvasir.root"), "tests", "cli", "src", "test", "replays");
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Pattern TRACE = Pattern.compile("TRACES/(\\S+)");

  static Stream<String> names() throws IOException {
    return new TreeSet<>(lines().stringPropertyNames()).stream();
  }

  private static Properties lines() throws IOException {
    Properties lines = new Properties();
    try (Reader reader = Files.newBufferedReader(FOLDER.resolve("lines.properties"))) {
      lines.load(reader);
    }
    return lines;
  }

  @ParameterizedTest
  @MethodSource("names")
  void reportsAreIdentical(String name) throws IOException {
    String line =
        TRACE
            .matcher(lines().getProperty(name))
            .replaceAll(trace -> SharedTraces.require(trace.group(1)).toString());

    Outcome outcome = Outcome.of(Map.of(), line + " --format json");

    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    Path recorded = FOLDER.resolve(name + ".json");
    JsonNode report = comparable(outcome.json());
    if ("1".equals(System.getenv("KVASIR_UPDATE_GOLDEN"))
        && !report.equals(comparable(JSON.readTree(recorded.toFile())))) {
      Files.writeString(
          recorded, JSON.writerWithDefaultPrettyPrinter().writeValueAsString(report) + "\n");
    }
    assertThat(report).isEqualTo(comparable(JSON.readTree(recorded.toFile())));
  }

  /** The report without the time that the replay took, the build and the folder of traces. */
  private static JsonNode comparable(JsonNode node) {
    if (node.isArray()) {
      ArrayNode array = JSON.createArrayNode();
      node.forEach(each -> array.add(comparable(each)));
      return array;
    }
    if (node.isTextual()) {
      return TextNode.valueOf(node.textValue().replaceFirst(".*/", ""));
    }
    if (!node.isObject()) {
      return node;
    }
    ObjectNode object = JSON.createObjectNode();
    for (Map.Entry<String, JsonNode> field : node.properties()) {
      if (!Set.of("wallSeconds", "build").contains(field.getKey())) {
        object.set(field.getKey(), comparable(field.getValue()));
      }
    }
    return object;
  }
}
