package io.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.harness.LongRuns;
import java.io.IOException;
import java.net.BindException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The official clients of OpenAI's API in front of a prefill and a decode worker: streams, tools,
 * stop strings and requests that are given up, over two legs in each protocol.
 */
@Tag("process")
class DisaggClientsTest {

  private static final Pattern EVENTS =
      Pattern.compile("events from port (\\d+), replay from (\\d+)");
  private static final int RANKS = 2;
  private static final int SESSIONS = 3;
  private static final int TURNS = 4;

  /** How KV moves. */
  enum Protocol {
    NIXL("vllm", "nixl"),
    NIXL_PUSH("vllm", "nixl_push"),
    MOONCAKE("vllm", "mooncake"),
    BOOTSTRAP("sglang", "bootstrap"),
    TRTLLM("trtllm", "trtllm");

    private final String flavor;
    private final String connector;

    Protocol(String flavor, String connector) {
      this.flavor = flavor;
      this.connector = connector;
    }
  }

  /** A prefill and a decode worker, and a gateway in front of them. */
  private static final class Fleet implements AutoCloseable {

    private final Protocol protocol;
    private final List<ServingProcess> all = new ArrayList<>();

    Fleet(Protocol protocol) throws IOException {
      this.protocol = protocol;
      try {
        String prefill = worker("prefill");
        String decode = worker("decode");
        ServingProcess gateway =
            ServingProcess.gateway(
                List.of(prefill, decode),
                "--explain-headers",
                "true",
                "--max-local-prefill-tokens",
                "0");
        all.add(gateway);
        gateway.await("legs are split", this::isSplit);
      } catch (IOException | RuntimeException | Error e) {
        close();
        throw e;
      }
    }

    private ServingProcess gateway() {
      return all.get(all.size() - 1);
    }

    /** Starts an engine. Returns what {@code --worker} says of it. */
    private String worker(String role) throws IOException {
      List<String> options = new ArrayList<>(List.of("--flavor", protocol.flavor));
      options.addAll(List.of("--role", role, "--dp", "" + RANKS, "--speed", "10"));
      options.addAll(List.of("--pool-tokens", "1000000")); // for two endless answers on a rank
      options.addAll(List.of("--events", "map", "--events-port", "0", "--replay-port", "0"));
      if (protocol.flavor.equals("vllm")) { // the only engine that has several
        options.addAll(List.of("--kv-connector", protocol.connector));
      }
      String keys =
          ",flavor=" + protocol.flavor + ",role=" + role + ",disagg=" + protocol.connector;
      if (protocol == Protocol.NIXL_PUSH && role.equals("prefill")) {
        int port = freePorts();
        options.addAll(List.of("--kv-engine-id", "p0", "--side-channel-port", "" + port));
        keys += ",engine_id=p0_dp{r},side_channel=127.0.0.1:" + port;
      }
      if (protocol == Protocol.MOONCAKE && role.equals("prefill")) {
        int port = freePorts();
        options.addAll(List.of("--bootstrap-port", "" + port));
        keys += ",bootstrap=127.0.0.1:" + port;
      }
      ServingProcess engine = ServingProcess.engine(options.toArray(String[]::new));
      all.add(engine);
      Matcher ports = EVENTS.matcher(engine.output());
      if (ports.find()) {
        keys += ",events=tcp://127.0.0.1:" + ports.group(1);
        keys += ",replay=tcp://127.0.0.1:" + ports.group(2);
      }
      return engine.url() + keys;
    }

    private boolean isSplit() throws IOException, InterruptedException {
      String body = "{\"model\":\"kvasir\",\"prompt\":\"Hello\",\"max_tokens\":1}";
      var reply = ServingProcess.post(gateway().url() + "/v1/completions", body);
      return reply.statusCode() == 200
          && reply.headers().firstValue("x-kvasir-prefill-worker").isPresent();
    }

    Map<String, String> environment() {
      boolean vllm = protocol.flavor.equals("vllm"); // the scripts know its metrics
      List<ServingProcess> counted = vllm ? all : List.of(gateway());
      List<String> pages = counted.stream().map(ServingProcess::metricsUrl).toList();
      return Map.of(
          "KVASIR_URL",
          gateway().url(),
          "KVASIR_METRICS",
          String.join(",", pages),
          "KVASIR_WITHOUT",
          protocol == Protocol.BOOTSTRAP ? "responses,messages,choices" : "");
    }

    @Override
    public void close() {
      for (int i = all.size() - 1; i >= 0; i--) {
        all.get(i).close();
      }
    }
  }

  /**
   * The first of {@link #RANKS} free ports, below those of connections, which stay taken a while.
   */
  private static int freePorts() throws IOException {
    for (int tries = 0; tries < 100; tries++) {
      int first = ThreadLocalRandom.current().nextInt(20_000, 32_000);
      List<ServerSocket> held = new ArrayList<>();
      try {
        for (int rank = 0; rank < RANKS; rank++) {
          held.add(new ServerSocket(first + rank));
        }
        return first;
      } catch (BindException e) {
        // The next ones may be free.
      } finally {
        for (ServerSocket socket : held) {
          socket.close();
        }
      }
    }
    throw new IOException("no free ports");
  }

  /** The usual protocol of vLLM; in the long form all. */
  static List<Protocol> protocols() {
    return LongRuns.cases(
        List.of(Protocol.NIXL),
        List.of(Protocol.NIXL_PUSH, Protocol.MOONCAKE, Protocol.BOOTSTRAP, Protocol.TRTLLM));
  }

  @ParameterizedTest
  @MethodSource("protocols")
  void theClientOfNpm(Protocol protocol) throws Exception {
    Path clients = Tools.nodeFolder(DisaggClientsTest.class);
    try (Fleet fleet = new Fleet(protocol)) {
      pass(fleet, clients, "(?s).*# pass [1-9].*", "node", "openai_client_test.mjs");
      AgentSessions.run(clients, fleet.gateway().url(), "chat", SESSIONS, TURNS);
    }
  }

  @ParameterizedTest
  @MethodSource("protocols")
  void theClientOfPython(Protocol protocol) throws Exception {
    Tools.requirePython("openai");
    try (Fleet fleet = new Fleet(protocol)) {
      pass(
          fleet, Tools.CLIENTS, "(?s).*Ran [1-9].*", Tools.python(), "-B", "openai_client_test.py");
    }
  }

  private static void pass(Fleet fleet, Path folder, String pattern, String... command)
      throws IOException {
    Tools.Result result = Tools.run(folder, fleet.environment(), command);
    assertThat(result.exitCode()).as(() -> result.output() + "\n" + fleet.all).isZero();
    assertThat(result.output()).as("some tests ran").matches(pattern);
  }
}
