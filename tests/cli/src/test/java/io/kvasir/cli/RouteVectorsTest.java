package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The public vectors through {@code kvasir route}: lines in, answers out. */
class RouteVectorsTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Puts a case as lines and compares the answers. */
  private interface Check {
    void check(JsonNode vector, ServeVector.Lines route) throws IOException;
  }

  @TestFactory
  Stream<DynamicTest> serveRouters() throws IOException {
    return cases("serve-routers.json", 49, ServeVector::isMadeOfOperations, ServeVector::check);
  }

  @TestFactory
  Stream<DynamicTest> adpRouters() throws IOException {
    return cases("adp-routers.json", 61, AdpVector::hasAllStates, AdpVector::check);
  }

  @TestFactory
  Stream<DynamicTest> conversations() throws IOException {
    return cases("adp-conversation.json", 21, AdpVector::hasAllStates, AdpVector::check);
  }

  @TestFactory
  Stream<DynamicTest> waitingQueues() throws IOException {
    return cases("waiting-queue.json", 7, AdpVector::isOnePop, AdpVector::checkPop);
  }

  private static Stream<DynamicTest> cases(
      String file, int least, Predicate<JsonNode> taken, Check check) throws IOException {
    Path vectors = Path.of(System.getProperty("kvasir.root"), "tests", "vectors", file);
    List<DynamicTest> tests = new ArrayList<>();
    for (JsonNode vector : JSON.readTree(vectors.toFile()).get("cases")) {
      if (taken.test(vector)) {
        String name = vector.get("id").asText() + " " + vector.path("note").asText();
        tests.add(
            DynamicTest.dynamicTest(name, () -> check.check(vector, RouteVectorsTest::answers)));
      }
    }
    assertThat(tests).as(file).hasSizeGreaterThanOrEqualTo(least);
    return tests.stream();
  }

  private static List<JsonNode> answers(List<String> lines) throws IOException {
    return RouteCommandTest.answers(-1, lines.toArray(String[]::new));
  }
}
