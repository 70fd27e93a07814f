package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.exchange.EngineFlavor;
import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Engines that are not as they are described: {@code GET /kvasir/ranks} names what is wrong after
 * at most twenty requests, and nothing else.
 */
class MisconfiguredEnginesTest {

  private static final String MODEL = StandInServer.MODEL;
  private static final int RANKS = 3;
  private static final int REQUESTS = 20;
  private static final long SEED = 13;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Random random = new Random(SEED);

  private static TestGateway gateway(String worker) {
    TestGateway gateway = TestGateway.of(List.of(worker)).router(GatewaySettings.AUTO).start();
    Await.until("live ranks", () -> isLive(ranks(gateway)));
    return gateway;
  }

  private static JsonNode ranks(TestGateway gateway) {
    try {
      return JSON.readTree(gateway.admin("/kvasir/ranks").text()).path(0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isLive(JsonNode worker) {
    for (JsonNode rank : worker.path("ranks")) {
      if (!rank.path("state").asText().equals("live")) {
        return false;
      }
    }
    return worker.path("ranks").size() == RANKS;
  }

  /**
   * Sends new prompts of several blocks, and waits for what the checks conclude from them. They are
   * chats, except to SGLang, whose tokenize endpoint takes no chats.
   */
  private JsonNode served(EngineFlavor flavor, TestGateway gateway, Predicate<JsonNode> concluded) {
    for (int i = 0; i < REQUESTS; i++) {
      boolean chat = flavor != EngineFlavor.SGLANG;
      String prompt = chat ? "\"messages\":[{\"role\":\"user\",\"content\":\"" : "\"prompt\":\"";
      String body =
          "{\"model\":\"%s\",\"max_tokens\":4,%s%s\"%s}"
              .formatted(StandInServer.MODEL, prompt, text(), chat ? "}]" : "");
      Reply reply = gateway.post(chat ? TestGateway.CHAT : "/v1/completions", body);
      assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    }
    Await.until("a conclusion", () -> concluded.test(ranks(gateway)));
    return ranks(gateway);
  }

  private String text() {
    StringBuilder content = new StringBuilder();
    for (int i = 0; i < 6 * StandInServer.BLOCK; i++) {
      content.append((char) ('a' + random.nextInt(26)));
    }
    return content.toString();
  }

  private static String verdict(JsonNode worker, String assumption) {
    return worker.at("/" + assumption + "/verdict").asText();
  }

  private static List<String> problems(JsonNode worker) {
    List<String> problems = new ArrayList<>();
    worker.path("problems").forEach(problem -> problems.add(problem.asText()));
    return problems;
  }

  @ParameterizedTest
  @EnumSource
  void anEngineAsDescribedHasNoProblem(EngineFlavor flavor) {
    try (StandInServer engine = StandInServer.start(flavor, RANKS);
        TestGateway gateway = gateway(engine.worker())) {
      JsonNode worker =
          served(flavor, gateway, seen -> seen.at("/tokens/agreements").asInt() == REQUESTS);
      assertThat(verdict(worker, "tokens")).isEqualTo("confirmed");
      assertThat(verdict(worker, "steering"))
          .isEqualTo(flavor == EngineFlavor.TRTLLM ? "unknown" : "confirmed");
      assertThat(worker.at("/tokens/contradictions").asInt()).isZero();
      assertThat(worker.at("/steering/contradictions").asInt()).isZero();
      assertThat(problems(worker)).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource
  void anotherBlockSizeIsNamed(EngineFlavor flavor) {
    try (StandInServer engine = StandInServer.start(flavor, RANKS).faults("{'block_size':64}");
        TestGateway gateway = gateway(engine.worker())) {
      // TensorRT-LLM may serve all requests on one rank
      int named = flavor == EngineFlavor.TRTLLM ? 1 : RANKS;
      JsonNode worker = served(flavor, gateway, seen -> problems(seen).size() >= named);
      assertThat(worker.path("block_size").asInt()).isEqualTo(64);
      assertThat(problems(worker))
          .allMatch(
              problem ->
                  problem.matches(
                      "the events of rank [0-2] have blocks of 32 tokens instead of 64;"
                          + " its prefixes are not matched: give all workers of the model"
                          + " block_size=32"));
      assertThat(verdict(worker, "steering")).isEqualTo("unknown");
    }
  }

  /** An engine without metrics does not say how large its blocks are; its events do. */
  @Test
  void theBlockSizeOfTheEventsIsTakenWhereNothingElseSaysIt() {
    try (ScriptedEngine first = ScriptedEngine.start(List.of(MODEL), EngineLink::answer);
        ScriptedEngine second = ScriptedEngine.start(List.of(MODEL), EngineLink::answer);
        StandInServer events = StandInServer.start(EngineFlavor.VLLM, 1, 16);
        StandInServer idle = StandInServer.start(EngineFlavor.VLLM, 1, 16);
        TestGateway gateway =
            TestGateway.of(
                    List.of(
                        "http://" + first.name() + events.events(),
                        "http://" + second.name() + idle.events()))
                .router("projected")
                .healthEveryMs(20)
                .start()) {
      assertThat(ranks(gateway).path("block_size").asInt()).isEqualTo(32);
      gateway.post(TestGateway.CHAT, ask(text()));
      events.post("/v1/completions", completion(text()));
      Await.until("the size", () -> ranks(gateway).path("block_size").asInt() == 16);
      String worker = "worker_id=\"" + first.name() + "\"";
      Await.until("its blocks", () -> gateway.metric("kvasir_kv_blocks", worker) > 0);
      assertThat(problems(ranks(gateway))).isEmpty();
      assertThat(gateway.post(TestGateway.CHAT, ask(text())).status()).isEqualTo(200);
      assertThat(gateway.gateway().fleets().fleet(MODEL).workers()).hasSize(2);
    }
  }

  @Test
  void aStatedBlockSizeThatTheEventsContradictIsNamedWithItsRemedy() {
    try (ScriptedEngine engine = ScriptedEngine.start(List.of(MODEL), EngineLink::answer);
        StandInServer events = StandInServer.start(EngineFlavor.VLLM, 1, 16);
        TestGateway gateway =
            TestGateway.of(List.of("http://" + engine.name() + ",block_size=64" + events.events()))
                .router("projected")
                .healthEveryMs(20)
                .start()) {
      events.post("/v1/completions", completion(text()));
      Await.until("a problem", () -> !problems(ranks(gateway)).isEmpty());
      assertThat(problems(ranks(gateway)))
          .containsExactly(
              "the events of rank 0 have blocks of 16 tokens instead of 64; its prefixes are not"
                  + " matched: give all workers of the model block_size=16");
      assertThat(ranks(gateway).path("block_size").asInt()).isEqualTo(64);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "vllm,vllm,sglang",
    "sglang,sglang,vllm",
    "TensorRT-LLM,trtllm,sglang",
    "tensorrt_llm,trtllm,vllm"
  })
  void aWrongFlavorIsNamedWithItsRemedy(String owner, String right, String stated) {
    try (ScriptedEngine engine = ScriptedEngine.good()) {
      engine.models("{\"data\":[{\"id\":\"m\",\"owned_by\":\"" + owner + "\"}]}");
      try (TestGateway gateway =
          TestGateway.of(List.of("http://" + engine.name() + ",flavor=" + stated)).start()) {
        String workers = gateway.admin("/workers").text();
        assertThat(workers)
            .contains("the engine is " + right + " by owned_by in GET /v1/models, but flavor is")
            .contains("give the worker flavor=" + right);
        assertThat(gateway.admin("/kvasir/ranks").text()).contains("the engine is " + right);
      }
      try (TestGateway gateway =
          TestGateway.of(List.of("http://" + engine.name() + ",flavor=" + right)).start()) {
        assertThat(gateway.admin("/workers").text()).doesNotContain("the engine is");
      }
    }
  }

  private static String ask(String text) {
    return TestGateway.ASK.replace("\"m\"", "\"" + MODEL + "\"").replace("Hi", text);
  }

  private static String completion(String text) {
    return "{\"model\":\"" + MODEL + "\",\"max_tokens\":4,\"prompt\":\"" + text + "\"}";
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SGLANG")
  void otherTokensThanThoseOfTheTokenizeEndpointAreNamed(EngineFlavor flavor) {
    try (StandInServer engine =
            StandInServer.start(flavor, RANKS).faults("{'wrong_template':true}");
        TestGateway gateway = gateway(engine.worker())) {
      JsonNode worker =
          served(flavor, gateway, seen -> verdict(seen, "tokens").equals("contradicted"));
      // the expected chat begins with <|user|>, the engine's with <|system|>
      assertThat(worker.at("/tokens/text").asText())
          .contains("the engine stores other tokens than its tokenize endpoint gives")
          .contains("first difference is at token 2: [" + (int) 'u')
          .contains("was expected, [" + (int) 's');
      assertThat(worker.at("/first_difference/position").asInt()).isEqualTo(2);
      assertThat(verdict(worker, "steering")).isEqualTo("unknown");
      assertThat(problems(worker)).isEmpty();
      if (flavor == EngineFlavor.VLLM) { // TensorRT-LLM has no endpoint that makes text of tokens
        Await.until(
            "texts", () -> ranks(gateway).at("/first_difference").hasNonNull("stored_text"));
        JsonNode difference = ranks(gateway).path("first_difference");
        assertThat(difference.path("expected_text").asText()).startsWith("user|>");
        assertThat(difference.path("stored_text").asText()).startsWith("system|>");
      }
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "TRTLLM")
  void ranksThatRequestsAndEventsNumberDifferentlyAreNamed(EngineFlavor flavor) {
    try (StandInServer engine = StandInServer.start(flavor, RANKS).faults("{'wrong_rank':1}");
        TestGateway gateway = gateway(engine.worker())) {
      JsonNode worker =
          served(flavor, gateway, seen -> verdict(seen, "steering").equals("contradicted"));
      assertThat(worker.at("/steering/text").asText())
          .contains("requests pinned to rank r are served by rank r + 1 modulo 3")
          .contains("rank_offset");
      assertThat(verdict(worker, "tokens")).isEqualTo("confirmed");
      assertThat(problems(worker)).isEmpty();
    }
  }

  @Test
  void aMapFromRanksToEndpointsThatIsOffIsNamed() {
    try (StandInServer engine = StandInServer.start(EngineFlavor.VLLM, RANKS);
        TestGateway gateway = gateway(engine.shiftedWorker())) {
      JsonNode worker = served(EngineFlavor.VLLM, gateway, seen -> problems(seen).size() == RANKS);
      for (int rank = 0; rank < RANKS; rank++) {
        assertThat(problems(worker))
            .contains(
                "the events of rank "
                    + rank
                    + " name rank "
                    + (rank + 1) % RANKS
                    + ": the map from ranks to event endpoints is wrong");
      }
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "TRTLLM")
  void ignoredSteeringIsNamed(EngineFlavor flavor) {
    try (StandInServer engine =
            StandInServer.start(flavor, RANKS).faults("{'ignore_steering':true}");
        TestGateway gateway = gateway(engine.worker())) {
      JsonNode worker =
          served(flavor, gateway, seen -> verdict(seen, "steering").equals("contradicted"));
      assertThat(worker.at("/steering/text").asText())
          .contains("the engine ignores the rank that requests name");
      assertThat(verdict(worker, "tokens")).isEqualTo("confirmed");
      assertThat(problems(worker)).isEmpty();
    }
  }
}
