package io.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.testing.harness.Await;
import io.kvasir.testing.harness.LongRuns;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Agents' sessions through the official clients, in front of two stand-ins of each engine: as many
 * cached tokens as with a router that knows everything, and a gateway that says where it does not
 * route exactly.
 */
@Tag("process")
class AgentSessionsTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String MODEL = "kvasir";

  /**
   * A rank holds half of an API's sessions, because an engine that chooses the rank may use one.
   */
  private static final int BLOCKS = 40_000;

  private static final int ENGINES = 2;
  private static final int SESSIONS = LongRuns.cases(6, 40);
  private static final int TURNS = LongRuns.cases(6, 30);

  /** Of few requests, one session that changes its rank once costs 1 to 2 %. */
  private static final double LEAST_SHARE = LongRuns.on() ? 0.98 : 0.9;

  /** Renders requests as all stand-ins do. */
  private static ServingProcess renderer;

  private static Path clients;

  @TempDir private static Path model;

  /** What makes the tokens. */
  enum Setup {
    WORKERS,
    RENDERER,
    TEMPLATES,
    NONE
  }

  /** Two engines, and a gateway in front of them. */
  private static final class Fleet implements AutoCloseable {

    private final List<FleetEngine> engines = new ArrayList<>();
    private ServingProcess gateway;

    Fleet(String flavor, Setup setup) throws IOException {
      try {
        List<String> workers = new ArrayList<>();
        for (int i = 0; i < ENGINES; i++) {
          engines.add(engine(flavor, setup));
          String separate = setup == Setup.RENDERER ? ",renderer=" + renderer.url() : "";
          workers.add(engines.get(i).worker() + ",ranks=" + FleetEngine.RANKS + separate);
        }
        String[] options =
            setup == Setup.TEMPLATES
                ? new String[] {"--tokenizer", MODEL + "=" + model}
                : new String[0];
        gateway = ServingProcess.gateway(workers, options);
        gateway.await("all ranks live", this::isLive);
      } catch (IOException | RuntimeException | Error e) {
        close();
        throw e;
      }
    }

    private static FleetEngine engine(String flavor, Setup setup) throws IOException {
      List<String> options = new ArrayList<>(List.of("--events", "map"));
      if (setup == Setup.WORKERS) {
        options.addAll(List.of("--enable-scale-out", "true"));
      }
      if (flavor.equals("trtllm")) { // it keeps the conversations that the gateway names
        options.addAll(List.of("--router", "conversation"));
      }
      return FleetEngine.withPool(MODEL, flavor, BLOCKS, options.toArray(String[]::new));
    }

    private JsonNode workers() throws IOException, InterruptedException {
      return JSON.readTree(ServingProcess.get(gateway.adminUrl() + "/kvasir/ranks").body());
    }

    private boolean isLive() throws IOException, InterruptedException {
      List<String> states = workers().findValuesAsText("state");
      return states.size() == ENGINES * FleetEngine.RANKS
          && states.stream().allMatch("live"::equals);
    }

    /** How exactly each endpoint is routed, and why not better. */
    String states() throws IOException, InterruptedException {
      Map<String, String> states = new TreeMap<>();
      for (JsonNode endpoint : workers().path(0).path("endpoints")) {
        String cause = endpoint.path("cause").asText("");
        states.put(
            endpoint.path("endpoint").asText().replace("_completions", ""),
            endpoint.path("exactness").asText() + (cause.isEmpty() ? "" : ":" + cause));
      }
      return String.join(
          " ",
          states.entrySet().stream().map(each -> each.getKey() + "=" + each.getValue()).toList());
    }

    @Override
    public void close() {
      if (gateway != null) {
        gateway.close();
      }
      engines.forEach(FleetEngine::close);
    }
  }

  @BeforeAll
  static void start() throws IOException {
    clients = Tools.nodeFolder(AgentSessionsTest.class);
    ByteModel.write(model);
    renderer =
        ServingProcess.engine("--flavor", "vllm", "--enable-scale-out", "true", "--ranks", "1");
  }

  @AfterAll
  static void stop() {
    if (renderer != null) {
      renderer.close();
    }
  }

  /**
   * Runs sessions of chats, then of the APIs, and lets those of chats run twice if few count: the
   * first ones of a fleet all start where their common head is, and spread in their second turn,
   * which few turns do not make up for.
   */
  private static void enough(Fleet fleet, String flavor, Setup setup, String more)
      throws IOException, InterruptedException {
    String apis = (LongRuns.on() ? "chat" : "chat,chat") + more;
    AgentSessions sessions = AgentSessions.run(clients, fleet.gateway.url(), apis, SESSIONS, TURNS);
    OraclePools oracle = new OraclePools(ENGINES * FleetEngine.RANKS, BLOCKS, FleetEngine.BLOCK);
    List<AgentSessions.Share> shares = sessions.shares(renderer, oracle);
    System.out.println(flavor + ", " + setup + ", cached by the oracle's: " + shares);
    for (int i = LongRuns.on() ? 0 : 1; i < shares.size(); i++) {
      assertThat(shares.get(i).value()).as("%s", shares).isGreaterThan(LEAST_SHARE);
    }
  }

  /** The engine chooses the rank of vLLM's responses, and of all requests to TensorRT-LLM. */
  private static Stream<Arguments> exactSetups() {
    String exact = "chat=exact messages=exact responses=";
    Stream<Arguments> first =
        Stream.of(
            Arguments.of("vllm", Setup.WORKERS, exact + "approximate:rank_unnamed"),
            Arguments.of("sglang", Setup.TEMPLATES, exact + "exact"));
    Stream<Arguments> others =
        Stream.of(
            Arguments.of("vllm", Setup.RENDERER, exact + "approximate:rank_unnamed"),
            Arguments.of("vllm", Setup.TEMPLATES, exact + "approximate:rank_unnamed"),
            Arguments.of(
                "trtllm",
                Setup.TEMPLATES,
                "chat=approximate:rank_unnamed messages=approximate:rank_unnamed"
                    + " responses=approximate:rank_unnamed"));
    return LongRuns.on() ? Stream.concat(first, others) : first;
  }

  @ParameterizedTest
  @MethodSource("exactSetups")
  void turnsFindWhatAnOracleFinds(String flavor, Setup setup, String states) throws Exception {
    try (Fleet fleet = new Fleet(flavor, setup)) {
      enough(fleet, flavor, setup, ",messages,responses,stored");
      if (LongRuns.on()) { // a question for tokens that a busy machine answers late is an estimate
        assertThat(fleet.states()).isEqualTo(states);
      }
    }
  }

  /** SGLang makes tokens of chats at /tokenize, TensorRT-LLM at /render. */
  private static Stream<Arguments> setupsWithoutTokens() {
    Stream<Arguments> all =
        Stream.of(
            Arguments.of("vllm", "exact", "render_404"),
            Arguments.of("sglang", "exact", "body_unsupported"),
            Arguments.of("trtllm", "approximate:rank_unnamed", "body_unsupported"));
    return LongRuns.on() ? all : all.limit(1);
  }

  @ParameterizedTest
  @MethodSource("setupsWithoutTokens")
  void withoutAnyTokensTheCauseIsNamed(String flavor, String chats, String cause) throws Exception {
    try (Fleet fleet = new Fleet(flavor, Setup.NONE)) {
      AgentSessions tenOfEach =
          AgentSessions.run(clients, fleet.gateway.url(), "messages,responses", 2, 5);
      assertThat(tenOfEach.all()).hasSize(20);
      assertThat(fleet.states())
          .isEqualTo("messages=load_only:%1$s responses=load_only:%1$s".formatted(cause));
      for (String endpoint : List.of("messages", "responses")) {
        String labels = "{model=\"" + MODEL + "\",endpoint=\"" + endpoint + "\"";
        assertThat(ServingProcess.get(fleet.gateway.metricsUrl()).body())
            .contains("kvasir_routing_exactness" + labels + "} 0.0")
            .contains("kvasir_routing_inexact_cause" + labels + ",cause=\"" + cause + "\"} 1");
      }
      if (LongRuns.on()) {
        enough(fleet, flavor, Setup.NONE, "");
        assertThat(fleet.states()).startsWith("chat=" + chats + " ");
      }
    }
  }

  private static Stream<String> nonceApis() {
    Stream<String> all = Stream.of("messages", "chat", "responses");
    return LongRuns.on() ? all : all.limit(1);
  }

  @ParameterizedTest
  @MethodSource("nonceApis")
  void aNonceInEverySystemPromptIsNamed(String api) throws Exception {
    try (Fleet fleet = new Fleet("vllm", Setup.WORKERS)) {
      AgentSessions.run(clients, fleet.gateway.url(), api, 10, 2, "KVASIR_NONCE", "1");
      Await.until(
          "a break of the prefix", () -> fleet.workers().path(0).path("prefix_break").isObject());
      assertThat(fleet.workers().path(0).path("prefix_break").path("of").asInt()).isEqualTo(20);
    }
  }
}
