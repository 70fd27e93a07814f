package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.ASK_STREAM;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.exchange.EngineFlavor;
import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.keys.ClientKey;
import io.kvasir.gateway.keys.IssuedKey;
import io.kvasir.gateway.keys.KeyFile;
import io.kvasir.gateway.keys.KeyLimits;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients with API keys: who is served, how much, and what engines, logs and metrics see. */
class ApiKeysTest {

  private static final String MESSAGES = "/v1/messages";
  private static final String SALT = "salt-of-the-tenant";

  @TempDir private Path folder;

  private final List<ClientKey> keys = new ArrayList<>();

  /** Adds a key to the file; returns its text. */
  private String key(String name, KeyLimits limits, String salt) throws IOException {
    IssuedKey issued = IssuedKey.next(new SecureRandom());
    String tenant = "tenant-of-" + name;
    keys.add(new ClientKey(issued.id(), issued.sha256(), name, tenant, limits, salt));
    KeyFile.write(file(), keys);
    return issued.text();
  }

  private String key(String name) throws IOException {
    return key(name, KeyLimits.NONE, null);
  }

  private static KeyLimits limits(long requests, long tokens, int concurrent) {
    return new KeyLimits(List.of(), requests, tokens, concurrent, 0);
  }

  private Path file() {
    return folder.resolve("keys");
  }

  private TestGateway gateway(ScriptedEngine... engines) {
    return TestGateway.of(engines).keys(file(), false).start();
  }

  private static String bearer(String key) {
    return "Authorization: Bearer " + key;
  }

  @Test
  void onlyAKeyOfTheFileIsServed() throws IOException {
    String key = key("alice");
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = gateway(engine)) {
      for (String field : List.of(bearer(key), "x-api-key: " + key, "Api-Key: " + key)) {
        assertThat(gateway.post(CHAT, ASK, field).status()).isEqualTo(200);
      }
      int served = engine.received();
      for (String field : List.of("X-Other: 1", bearer("kv-"), bearer(key + "x"), bearer(""))) {
        Reply refused = gateway.post(CHAT, ASK, field);
        assertThat(refused.status()).isEqualTo(401);
        assertThat(refused.code()).isEqualTo("invalid_api_key");
        assertThat(refused.field("www-authenticate")).isEqualTo("Bearer");
        assertThat(gateway.get("/v1/models", field).status()).isEqualTo(401);
        assertThat(gateway.get("/v1/files", field).status()).isEqualTo(401);
        assertThat(gateway.get("/nothing", field).status()).isEqualTo(401);
      }
      JsonNode anthropic = gateway.post(MESSAGES, ASK, "x-api-key: wrong").json();
      assertThat(anthropic.at("/error/type").asText()).isEqualTo("authentication_error");
      assertThat(engine.received()).isEqualTo(served);
      assertThat(gateway.get("/health").status()).isEqualTo(200);
      assertThat(gateway.get("/ready").status()).isEqualTo(200);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anEngineReceivesAClientsKeyOnlyIfThatIsSet(boolean forwards) throws IOException {
    String key = key("alice");
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).keys(file(), forwards).start()) {
      String[] fields = {bearer(key), "x-api-key: " + key, "api-key: " + key};
      assertThat(gateway.post(CHAT, ASK, fields).status()).isEqualTo(200);
      ScriptedEngine.Received request = engine.next();
      assertThat(request.field("authorization")).isEqualTo(forwards ? "Bearer " + key : null);
      assertThat(request.field("x-api-key")).isEqualTo(forwards ? key : null);
      assertThat(request.field("api-key")).isEqualTo(forwards ? key : null);
    }
  }

  @Test
  void aKeyIsForItsModelsOnly() throws IOException {
    String all = key("all");
    String one = key("one", new KeyLimits(List.of("m"), 0, 0, 0, 0), null);
    try (ScriptedEngine first = ScriptedEngine.good();
        ScriptedEngine second = ScriptedEngine.start(List.of("hidden"), EngineLink::answer);
        TestGateway gateway = gateway(first, second)) {
      assertThat(gateway.get("/v1/models", bearer(all)).json().at("/data")).hasSize(2);
      Reply listed = gateway.get("/v1/models", bearer(one));
      assertThat(listed.json().at("/data")).hasSize(1);
      assertThat(gateway.get("/v1/models/hidden", bearer(one)).status()).isEqualTo(404);
      String hidden = ASK.replace("\"m\"", "\"hidden\"");
      assertThat(gateway.post(CHAT, hidden, bearer(all)).status()).isEqualTo(200);
      Reply refused = gateway.post(CHAT, hidden, bearer(one));
      assertThat(refused.status()).isEqualTo(404);
      assertThat(refused.code()).isEqualTo("model_not_found");
      assertThat(refused.message()).endsWith("known: m");
      assertThat(gateway.post("/v1/other?model=hidden", "{}", bearer(one)).status()).isEqualTo(404);
      String adapters = ASK.replace("{\"model\"", "{\"lora_path\":[\"hidden\"],\"model\"");
      assertThat(gateway.post(CHAT, adapters, bearer(one)).status()).isEqualTo(404);
      int before = second.received();
      for (int i = 0; i < 5; i++) {
        assertThat(gateway.get("/v1/things", bearer(one)).status()).isEqualTo(200);
        assertThat(gateway.post(CHAT, ASK, bearer(one)).status()).isEqualTo(200);
      }
      assertThat(second.received()).isEqualTo(before);
    }
  }

  @Test
  void requestsBeyondALimitAreRefusedUntilAMinuteHasPassed() throws IOException {
    String key = key("alice", limits(2, 0, 0), null);
    String other = key("bob", limits(2, 0, 0), null);
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = gateway(engine)) {
      Reply first = gateway.post(CHAT, ASK, bearer(key));
      assertThat(first.field("x-ratelimit-limit-requests")).isEqualTo("2");
      assertThat(first.field("x-ratelimit-remaining-requests")).isEqualTo("1");
      assertThat(first.field("x-ratelimit-reset-requests")).matches("\\d+\\.\\ds");
      assertThat(gateway.post(CHAT, ASK_STREAM, bearer(key)).text()).endsWith("[DONE]\n\n");
      Reply refused = gateway.post(CHAT, ASK, bearer(key));
      assertThat(refused.status()).isEqualTo(429);
      assertThat(refused.code()).isEqualTo("rate_limit_exceeded");
      assertThat(refused.json().at("/error/type").asText()).isEqualTo("requests");
      assertThat(Integer.parseInt(refused.field("retry-after"))).isBetween(60, 61);
      assertThat(refused.field("x-ratelimit-remaining-requests")).isEqualTo("0");
      assertThat(gateway.post(MESSAGES, ASK, bearer(key)).json().at("/error/type").asText())
          .isEqualTo("rate_limit_error");
      assertThat(gateway.post(CHAT, ASK, bearer(other)).status()).isEqualTo(200);
      assertThat(gateway.get("/v1/models", bearer(key)).status()).isEqualTo(200);
      gateway.pass(61_000);
      assertThat(gateway.post(CHAT, ASK, bearer(key)).status()).isEqualTo(200);
      assertThat(
              gateway.metric(
                  "kvasir_tenant_refusals_total",
                  "tenant=\"tenant-of-alice\"",
                  "limit=\"requests_per_minute\""))
          .isEqualTo(2);
    }
  }

  @Test
  void tokensCountAsTheEngineStatesThem() throws IOException {
    String key = key("alice", limits(0, 1_000, 0), null);
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = gateway(engine)) {
      String ask = ASK.replace("{\"model\"", "{\"max_tokens\":900,\"model\"");
      for (int i = 1; i <= 5; i++) { // of 900 expected tokens, 9 are used
        Reply reply = gateway.post(CHAT, ask, bearer(key));
        assertThat(reply.status()).as(reply.text()).isEqualTo(200);
        double used = 9 * i;
        Await.until(
            "the tokens of request " + i,
            () ->
                gateway.metric("kvasir_tenant_tokens_total", "tenant=\"tenant-of-alice\"") == used);
      }
      Reply refused = gateway.post(CHAT, ask.replace("900", "999"), bearer(key));
      assertThat(refused.status()).isEqualTo(429);
      assertThat(refused.json().at("/error/type").asText()).isEqualTo("tokens");
      assertThat(refused.field("retry-after")).as("it can never pass").isNull();
      assertThat(refused.field("x-ratelimit-remaining-tokens")).isEqualTo("955");
      assertThat(gateway.post(CHAT, ask, bearer(key)).status()).isEqualTo(200);
    }
  }

  @Test
  void onlySoManyRequestsRunAtATime() throws Exception {
    String key = key("alice", limits(0, 0, 1), null);
    CountDownLatch refused = new CountDownLatch(1);
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  link.stream();
                  link.token("Hello");
                  Await.opened("the refusal", refused);
                  link.endStream();
                });
        TestGateway gateway = gateway(engine);
        RawClient client = gateway.client()) {
      client.send(RawClient.post(CHAT, ASK_STREAM, bearer(key)));
      assertThat(client.head().status()).isEqualTo(200);
      assertThat(gateway.post(CHAT, ASK, bearer(key)).status()).isEqualTo(429);
      refused.countDown();
      while (client.event() != null) {}
      engine.script(EngineLink::answer);
      Await.until(() -> gateway.post(CHAT, ASK, bearer(key)).status() == 200);
    }
  }

  @Test
  void aTenantsSaltIsPartOfTheBodyThatTheEngineReceives() throws IOException {
    String key = key("alice", KeyLimits.NONE, SALT);
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = gateway(engine)) {
      gateway.post(CHAT, ASK, bearer(key));
      assertThat(engine.next().text()).contains("\"cache_salt\":\"" + SALT + "\"");
      String own = ASK.replace("{\"model\"", "{\"cache_salt\":\"mine\",\"model\"");
      gateway.post(CHAT, own, bearer(key));
      assertThat(engine.next().text()).contains("\"cache_salt\":\"" + SALT + ".mine\"");
    }
  }

  @Test
  void tenantsWithSaltsShareNoCachedBlocks() throws IOException {
    String one = key("alice", KeyLimits.NONE, SALT);
    String two = key("bob", KeyLimits.NONE, SALT + "-2");
    String body =
        "{\"model\":\"words\",\"max_tokens\":1,\"prompt\":\"" + "same words ".repeat(200) + "\"}";
    try (StandInServer engine = StandInServer.start(EngineFlavor.VLLM, 1);
        TestGateway gateway =
            TestGateway.of(List.of(engine.worker())).keys(file(), false).start()) {
      assertThat(cached(gateway, body, one)).isZero();
      assertThat(cached(gateway, body, one)).isPositive();
      assertThat(cached(gateway, body, two)).isZero();
    }
  }

  private static long cached(TestGateway gateway, String body, String key) {
    Reply reply = gateway.post("/v1/completions", body, bearer(key));
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    assertThat(reply.json().at("/usage/prompt_tokens").asLong()).isGreaterThan(64);
    return reply.json().at("/usage/prompt_tokens_details/cached_tokens").asLong();
  }

  @Test
  void noKeyIsInLogsAndMetrics() throws IOException {
    String key = key("alice", limits(2, 0, 0), SALT);
    String secret = key.substring(key.length() - 43);
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = gateway(engine)) {
      StringBuilder seen = new StringBuilder();
      for (String field : List.of(bearer(key), bearer(key), bearer(key), bearer("not" + key))) {
        Reply reply = gateway.post(CHAT, ASK, field);
        seen.append(reply.head()).append(reply.text());
        JsonNode line = gateway.logLine();
        seen.append(line);
        assertThat(line.path("key").asText()).isEqualTo(reply.status() == 401 ? "" : "alice");
        assertThat(line.path("tenant").asText())
            .isEqualTo(reply.status() == 401 ? "" : "tenant-of-alice");
      }
      for (String path : List.of("/metrics", "/workers", "/kvasir/ranks", "/kvasir/workers")) {
        seen.append(gateway.admin(path).text());
      }
      seen.append(gateway.gateway().keys().summary());
      assertThat(seen.toString())
          .contains("tenant-of-alice")
          .doesNotContain(secret)
          .doesNotContain(SALT)
          .doesNotContain(keys.get(0).sha256());
    }
  }

  @Test
  void aBurstOfOneTenantDoesNotDelayAnother() throws IOException {
    String burst = bearer(key("alice"));
    String other = bearer(key("bob"));
    Semaphore turns = new Semaphore(0);
    String large = ASK.replace("{\"model\"", "{\"user\":\"alice\",\"max_tokens\":90000,\"model\"");
    List<RawClient> clients = new ArrayList<>();
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  turns.acquire();
                  EngineLink.answer(request, link);
                });
        TestGateway gateway = TestGateway.of(engine).keys(file(), false).queue(1, 100).start()) {
      for (int i = 0; i < 8; i++) {
        clients.add(gateway.client().send(RawClient.post(CHAT, large, burst)));
      }
      Await.until(() -> gateway.metric("kvasir_num_requests_waiting") == 7);
      clients.add(gateway.client().send(RawClient.post(CHAT, ASK, other)));
      Await.until(() -> gateway.metric("kvasir_num_requests_waiting") == 8);
      turns.release(2);
      assertThat(engine.next().text()).contains("alice");
      assertThat(engine.next().text()).as("the request of bob").doesNotContain("alice");
      turns.release(7);
      clients.forEach(client -> assertThat(client.reply().status()).isEqualTo(200));
    } finally {
      clients.forEach(RawClient::close);
    }
  }

  @Test
  void keysThatAreReadAgainCountFromThenOn() throws IOException {
    String first = key("alice");
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = gateway(engine)) {
      String second = key("bob");
      assertThat(gateway.post(CHAT, ASK, bearer(second)).status()).isEqualTo(401);
      gateway.gateway().keys().reload();
      assertThat(gateway.post(CHAT, ASK, bearer(second)).status()).isEqualTo(200);
      keys.remove(0);
      KeyFile.write(file(), keys);
      gateway.gateway().keys().reload();
      assertThat(gateway.post(CHAT, ASK, bearer(first)).status()).isEqualTo(401);
    }
  }
}
