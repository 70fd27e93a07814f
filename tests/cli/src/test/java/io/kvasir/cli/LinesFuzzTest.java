package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.cli.lines.LineLimit;
import io.kvasir.cli.lines.index.IndexLines;
import io.kvasir.cli.lines.route.RouteLines;
import io.kvasir.model.Errors;
import io.kvasir.testing.harness.Fuzz;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random lines between valid ones. Every line is answered, and a run of only the valid lines gives
 * the same answers.
 */
class LinesFuzzTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int LINES = 60;
  private static final int MAX_TOKENS = 100_000;
  private static final double MUTATED = 0.35;

  @Tag("fuzz")
  @ParameterizedTest
  @ValueSource(strings = {"route", "fleet", "index"})
  void invalidLinesChangeNothing(String command) {
    Fuzz.run("lines of " + command, random -> check(command, random));
  }

  private static void check(String command, Random random) throws IOException {
    List<byte[]> lines = lines(command, random);
    List<JsonNode> answers = answers(command, lines);
    List<byte[]> valid = new ArrayList<>();
    List<JsonNode> expected = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      JsonNode error = answers.get(i).get("error");
      if (error == null) {
        valid.add(lines.get(i));
        expected.add(answers.get(i));
      } else {
        String text = text(lines.get(i));
        assertThat(error.isTextual()).as(text).isTrue();
        assertThat(error.textValue())
            .as(text)
            .isNotBlank()
            .doesNotContain(
                "internal error", "Exception", "out of bounds", "null pointer", "overflow")
            .hasSizeLessThan(1000);
        assertThat(answers.get(i).get("line").asInt()).isEqualTo(i + 1);
      }
    }
    List<JsonNode> shadow = answers(command, valid);
    for (int i = 0; i < shadow.size(); i++) {
      assertThat(shadow.get(i)).as(text(valid.get(i))).isEqualTo(expected.get(i));
    }
  }

  private static String text(byte[] line) {
    return Errors.shown(new String(line, StandardCharsets.UTF_8));
  }

  private static List<byte[]> lines(String command, Random random) {
    LineParts parts = new LineParts(random);
    RandomRouteLines routes = new RandomRouteLines(parts);
    RandomFleetLines fleets = new RandomFleetLines(parts);
    LineMutations mutations = new LineMutations(random);
    boolean fleet = random.nextBoolean();
    List<byte[]> lines = new ArrayList<>();
    lines.add(
        LineMutations.bytes(
            switch (command) {
              case "route" -> routes.configureRoute(fleet);
              case "fleet" -> fleets.configureFleet();
              default -> fleets.configureIndex();
            }));
    while (lines.size() < LINES) {
      Map<String, Object> line =
          switch (command) {
            case "route" -> routes.route(fleet);
            case "fleet" -> fleets.fleet();
            default -> fleets.index();
          };
      if (random.nextDouble() < MUTATED) {
        lines.add(mutations.mutated(line));
      }
      lines.add(LineMutations.bytes(line));
    }
    return lines;
  }

  private static List<JsonNode> answers(String command, List<byte[]> lines) throws IOException {
    ByteArrayOutputStream in = new ByteArrayOutputStream();
    for (byte[] line : lines) {
      in.writeBytes(line);
      in.write('\n');
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    boolean allValid = run(command, new ByteArrayInputStream(in.toByteArray()), out);
    List<JsonNode> answers = new ArrayList<>();
    for (String answer : out.toString(StandardCharsets.UTF_8).lines().toList()) {
      JsonNode node = JSON.readTree(answer);
      withoutWaits(node);
      answers.add(node);
    }
    assertThat(answers).hasSameSizeAs(lines);
    assertThat(answers.stream().noneMatch(answer -> answer.has("error"))).isEqualTo(allValid);
    return answers;
  }

  private static boolean run(String command, InputStream in, OutputStream out) throws IOException {
    LineLimit limit = new LineLimit(MAX_TOKENS);
    if (!command.equals("index")) {
      try (RouteLines route = new RouteLines(in, out, limit)) {
        return route.run();
      }
    }
    try (IndexLines index = new IndexLines(in, out, limit)) {
      return index.run();
    }
  }

  /** Until a line sets the time, waits are measured by the system's clock. */
  private static void withoutWaits(JsonNode answer) {
    if (answer instanceof ObjectNode object) {
      JsonNode ignored = object.remove("waitedMs");
    }
    answer.path("settled").forEach(LinesFuzzTest::withoutWaits);
  }
}
