package io.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The official clients of OpenAI's API against gateways in processes of their own. */
@Tag("process")
class OpenAiClientsTest {

  /** Modelled seconds in one second: short answers take no time, long ones outlast the tests. */
  private static final String[] FAST = {"--speed", "10"};

  private static final String[] ENGINE = {"--speed", "10", "--ranks", "4"};
  private static final List<ServingProcess> PROCESSES = new ArrayList<>();
  private static Map<Servers, Map<String, String>> environments = Map.of();

  /** What serves the clients. */
  enum Servers {
    EMBEDDED_RANKS,
    TWO_ENGINES
  }

  @BeforeAll
  static void start() throws IOException {
    try {
      ServingProcess embedded = add(ServingProcess.embedded(FAST));
      ServingProcess one = add(ServingProcess.engine(ENGINE));
      ServingProcess other = add(ServingProcess.engine(ENGINE));
      ServingProcess gateway = add(ServingProcess.gateway(List.of(one.url(), other.url())));
      // Answers must be equal whatever engine gives them: requests before both are healthy would
      // all go to one of them.
      gateway.await(
          "in front of two healthy engines", () -> gateway.metric("kvasir_worker_healthy") == 2);
      environments =
          Map.of(
              Servers.EMBEDDED_RANKS, environment(embedded, embedded),
              Servers.TWO_ENGINES, environment(gateway, gateway, one, other));
    } catch (IOException | RuntimeException | Error e) {
      stop();
      throw e;
    }
  }

  private static ServingProcess add(ServingProcess process) {
    PROCESSES.add(process);
    return process;
  }

  private static Map<String, String> environment(ServingProcess server, ServingProcess... counted) {
    List<String> pages = new ArrayList<>();
    for (ServingProcess process : counted) {
      pages.add(process.metricsUrl());
    }
    return Map.of("KVASIR_URL", server.url(), "KVASIR_METRICS", String.join(",", pages));
  }

  @AfterAll
  static void stop() {
    Collections.reverse(PROCESSES);
    PROCESSES.forEach(ServingProcess::close);
  }

  @ParameterizedTest
  @EnumSource
  void theClientOfNpm(Servers servers) throws Exception {
    Path folder = Tools.nodeFolder(OpenAiClientsTest.class);
    pass(
        Tools.run(folder, environments.get(servers), "node", "openai_client_test.mjs"),
        "(?s).*# pass [1-9].*");
  }

  @ParameterizedTest
  @EnumSource
  void theClientOfPython(Servers servers) throws Exception {
    Tools.requirePython("openai");
    pass(
        Tools.run(
            Tools.CLIENTS,
            environments.get(servers),
            Tools.python(),
            "-B",
            "openai_client_test.py"),
        "(?s).*Ran [1-9].*");
  }

  private static void pass(Tools.Result result, String pattern) {
    assertThat(result.exitCode()).as(() -> result.output() + "\n" + PROCESSES).isZero();
    assertThat(result.output()).as("some tests ran").matches(pattern);
  }
}
