package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.cli.serve.Tools;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.testing.harness.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** examples/route.py: a program in another language drives every fleet policy. */
@Tag("process")
class RouteScriptTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Path SCRIPT =
      Path.of(System.getProperty("kvasir.root"), "examples", "route.py");

  static Stream<String> policies() {
    return FleetRouterKind.all().stream().map(FleetRouterProvider::name);
  }

  @ParameterizedTest
  @MethodSource("policies")
  void everyPolicyPlacesEveryRequest(String policy) throws IOException {
    JsonNode halves = halves(policy);

    for (JsonNode half : halves) {
      int placed = 0;
      for (JsonNode count : half) {
        placed += count.asInt();
      }
      assertThat(placed).as(policy).isEqualTo(200);
    }
    if (policy.equals(FleetRouterKind.PROJECTED)) {
      assertThat(halves.get(0).path("4").asInt()).as("before it has learned").isPositive();
      assertThat(halves.get(1).path("4").asInt()).as("once it has learned").isZero();
    } else if (policy.equals("round_robin")) {
      assertThat(halves.get(1).path("4").asInt()).as("does not learn").isEqualTo(50);
    }
  }

  @Test
  void theScriptIsShort() throws IOException {
    assertThat(Files.readAllLines(SCRIPT)).hasSizeLessThanOrEqualTo(40);
  }

  @Test
  void anErrorEndsTheScriptWithItsMessage() throws IOException {
    ChildProcess ended = run("best");

    assertThat(ended.exitCode()).isNotZero();
    assertThat(ended.errors()).contains("configure: router must be one of round_robin");
  }

  /** How many requests each worker was given in either half of a run. */
  private static JsonNode halves(String policy) throws IOException {
    ChildProcess ended = run(policy);
    assertThat(ended.exitCode()).as(ended.errors()).isZero();
    JsonNode result = JSON.readTree(ended.output());
    assertThat(result.get("policy").asText()).isEqualTo(policy);
    assertThat(result.get("halves")).hasSize(2);
    return result.get("halves");
  }

  private static ChildProcess run(String policy) throws IOException {
    Tools.requirePython("json");
    ProcessBuilder builder = new ProcessBuilder(Tools.python(), SCRIPT.toString(), policy);
    List<String> kvasir = KvasirJvm.command(List.of());
    builder
        .environment()
        .put(
            "KVASIR",
            kvasir.stream().map(word -> "'" + word + "'").collect(Collectors.joining(" ")));
    return ChildProcess.run(SCRIPT.getFileName() + " " + policy, builder);
  }
}
