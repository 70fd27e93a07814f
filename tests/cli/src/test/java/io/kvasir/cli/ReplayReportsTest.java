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
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Replays give the reports that they gave before the code was divided into base, engine and fleet,
 * except for {@code wallSeconds}. {@code keys.json} maps the old keys that have other names now.
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
    JsonNode keys = JSON.readTree(FOLDER.resolve("keys.json").toFile());
    JsonNode expected = JSON.readTree(FOLDER.resolve(name + ".json").toFile());
    assertThat(comparable(outcome.json(), JSON.createObjectNode()))
        .isEqualTo(comparable(expected, keys));
  }

  /** The report without the time that the replay took and the folder of traces; keys renamed. */
  private static JsonNode comparable(JsonNode node, JsonNode newKeys) {
    if (node.isArray()) {
      ArrayNode array = JSON.createArrayNode();
      node.forEach(each -> array.add(comparable(each, newKeys)));
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
      if (!field.getKey().equals("wallSeconds")) {
        String key = newKeys.path(field.getKey()).asText(field.getKey());
        object.set(key, comparable(field.getValue(), newKeys));
      }
    }
    return object;
  }
}
