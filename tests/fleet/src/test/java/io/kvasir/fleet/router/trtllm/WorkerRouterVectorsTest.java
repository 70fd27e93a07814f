package io.kvasir.fleet.router.trtllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterSetup;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * The public conformance vectors of {@code tests/vectors/serve-routers.json}. Steps are those of
 * {@code kvasir route}, plus {@code expect} and a few set-up operations.
 */
class WorkerRouterVectorsTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final TypeReference<Map<String, Object>> MAP = new TypeReference<>() {};

  private static Stream<JsonNode> vectors(String group) throws IOException {
    Path root = Path.of(System.getProperty("kvasir.root"));
    JsonNode all = JSON.readTree(root.resolve("tests/vectors/serve-routers.json").toFile());
    assertThat(all.get(group)).isNotEmpty();
    return StreamSupport.stream(all.get(group).spliterator(), false);
  }

  @TestFactory
  Stream<DynamicTest> decisions() throws IOException {
    return vectors("cases")
        .map(
            vector ->
                dynamicTest(
                    vector.get("id").asText() + " " + vector.path("note").asText(),
                    () -> new WorkerScript(vector.get("configure")).run(vector.get("steps"))));
  }

  @TestFactory
  Stream<DynamicTest> wrongArgsAreRefused() throws IOException {
    return vectors("refusedArgs")
        .map(
            vector ->
                dynamicTest(
                    vector.toString(),
                    () -> {
                      Map<String, Object> args = JSON.convertValue(vector.get(1), MAP);
                      String named =
                          args.isEmpty() ? vector.get(0).asText() : args.keySet().iterator().next();
                      assertThatIllegalArgumentException()
                          .isThrownBy(
                              () ->
                                  FleetRouterKind.named(vector.get(0).asText())
                                      .create(args, FleetRouterSetup.of(1)))
                          .withMessageContaining(named);
                    }));
  }

  /** B21: blocks held by other workers (CD3) do not count. */
  @TestFactory
  Stream<DynamicTest> needsContext() throws IOException {
    return vectors("needsContext")
        .map(
            vector ->
                dynamicTest(
                    vector.get("id").asText(),
                    () ->
                        assertThat(
                                DisaggFlow.needsContext(
                                    vector.get("matchLength").asLong(),
                                    vector.get("promptTokens").asLong(),
                                    vector.get("limit").asLong()))
                            .isEqualTo(vector.get("expected").asBoolean())));
  }

  @Test
  void aScriptNoticesAWrongAnswer() throws IOException {
    JsonNode vector = vectors("cases").findFirst().orElseThrow().deepCopy();
    ((ObjectNode) vector.get("steps").get(1).get("expect")).put("server", "s3");
    assertThatExceptionOfType(AssertionError.class)
        .isThrownBy(() -> new WorkerScript(vector.get("configure")).run(vector.get("steps")));
  }
}
