package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.CHAT;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.keys.ClientKey;
import io.kvasir.gateway.keys.IssuedKey;
import io.kvasir.gateway.keys.KeyFile;
import io.kvasir.gateway.keys.KeyLimits;
import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What requests take of their key's limits where they fail, and which models they reach. */
class KeyAccountsTest {

  private static final String FORM = "multipart/form-data; boundary=Bo";
  private static final String SPEECH = "/v1/audio/transcriptions";
  private static final String END = "--Bo--\r\n";

  @TempDir private Path folder;

  @AfterEach
  void repair() {
    HookedPolicy.endFailure = null;
  }

  private TestGatewayBuilder keyed(ScriptedEngine... engines) {
    return TestGateway.of(engines).keys(folder.resolve("keys"), false);
  }

  /** Writes a file with one key; returns the field that presents it. */
  private String key(KeyLimits limits) throws IOException {
    IssuedKey issued = IssuedKey.next(new SecureRandom());
    KeyFile.write(
        folder.resolve("keys"),
        List.of(new ClientKey(issued.id(), issued.sha256(), "alice", "alice", limits, null)));
    return "x-api-key: " + issued.text();
  }

  private String key(long requests, long tokens, int concurrent) throws IOException {
    return key(new KeyLimits(List.of(), requests, tokens, concurrent, 0));
  }

  @Test
  void aRouterThatFailsAtTheEndOfARequestTakesNoPlace() throws IOException {
    String key = key(0, 0, 1);
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = keyed(engine).router(HookedPolicy.NAME).start()) {
      HookedPolicy.endFailure = "a plug-in's own fault";
      try (RawClient client = gateway.client()) {
        for (int i = 0; i < 3; i++) {
          client.send(RawClient.post(CHAT, ASK, key));
          assertThat(client.reply().status()).isEqualTo(200);
        }
      }
      Await.until(() -> gateway.metric("kvasir_num_requests_running") == 0);
    }
  }

  @Test
  void aRequestThatLeavesTheQueueCostsNoTokens() throws IOException {
    String key = key(0, 1_000, 0);
    Semaphore answers = new Semaphore(0);
    String large =
        ASK.replace("Hi", "x".repeat(2_400)).replace("{\"model\"", "{\"max_tokens\":1,\"model\"");
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  answers.acquire();
                  EngineLink.answer(request, link);
                });
        TestGateway gateway = keyed(engine).queue(1, 10).start();
        RawClient first = gateway.client()) {
      first.send(
          RawClient.post(CHAT, ASK.replace("{\"model\"", "{\"max_tokens\":1,\"model\""), key));
      engine.next();
      try (RawClient second = gateway.client()) {
        second.send(RawClient.post(CHAT, large, key));
        Await.until(() -> gateway.metric("kvasir_num_requests_waiting") == 1);
      }
      assertThat(gateway.logLine().path("status").asInt()).isEqualTo(499);
      answers.release(2);
      assertThat(first.reply().status()).isEqualTo(200);
      assertThat(gateway.post(CHAT, large, key).status()).isEqualTo(200);
    }
  }

  @Test
  void enginesAreAskedOnlyForRequestsThatTheLimitsAdmit() throws IOException {
    String key = key(2, 0, 0);
    try (ScriptedEngine a = ScriptedEngine.start((request, link) -> link.json(404, "{}"));
        ScriptedEngine b = ScriptedEngine.start((request, link) -> link.json(404, "{}"));
        TestGateway gateway = keyed(a, b).start()) {
      assertThat(gateway.get("/v1/responses/resp_x", key).status()).isEqualTo(404);
      String next = "{\"model\":\"m\",\"input\":\"Hi\",\"previous_response_id\":\"resp_x\"}";
      assertThat(gateway.post("/v1/responses", next, key).status()).isEqualTo(404);
      int asked = a.received() + b.received();
      assertThat(gateway.get("/v1/responses/resp_x", key).status()).isEqualTo(429);
      assertThat(gateway.post("/v1/responses", next, key).status()).isEqualTo(429);
      assertThat(a.received() + b.received()).isEqualTo(asked);
    }
  }

  @Test
  void anEnginesOwnFieldsOfLimitsAreReplaced() throws IOException {
    String key = key(5, 0, 0);
    try (ScriptedEngine engine =
            ScriptedEngine.start(
                (request, link) -> {
                  link.head(
                      200,
                      "X-RateLimit-Limit-Requests: 77",
                      "x-ratelimit-limit-tokens: 88",
                      "Content-Length: 2");
                  link.raw("{}");
                });
        TestGateway gateway = keyed(engine).start()) {
      Reply reply = gateway.post(CHAT, ASK, key);
      assertThat(reply.head().fields().get("x-ratelimit-limit-requests")).containsExactly("5");
      assertThat(reply.field("x-ratelimit-limit-tokens")).isEqualTo("88");
    }
  }

  private static String field(String name, String value) {
    return part("Content-Disposition: form-data; name=\"" + name + "\"\r\n", value);
  }

  private static String part(String head, String value) {
    return "--Bo\r\n" + head + "\r\n" + value + "\r\n";
  }

  private static Reply post(
      TestGateway gateway, String target, String type, String body, String key) {
    String head =
        String.join(
            "\r\n", "POST " + target + " HTTP/1.1", "Host: x", "Content-Type: " + type, key);
    try (RawClient client = gateway.client()) {
      client.send(head + "\r\nContent-Length: " + body.length() + "\r\n\r\n");
      return client.trySend(body.getBytes(ISO_8859_1)).reply();
    }
  }

  /** An engine for forms; no script of it reads a part that is cut. */
  private static ScriptedEngine speech() {
    return ScriptedEngine.start(
        List.of("m", "hidden"), (request, link) -> link.json(200, "{\"text\":\"Hi\"}"));
  }

  @ParameterizedTest
  @ValueSource(ints = {10, 200_000, 3_000_000})
  void aFormReachesNoOtherModelByASecondName(int fileBytes) throws IOException {
    String key = key(new KeyLimits(List.of("m"), 0, 0, 0, 0));
    String file = field("file", "x".repeat(fileBytes));
    try (ScriptedEngine engine = speech();
        TestGateway gateway = keyed(engine).start()) {
      String good = field("model", "m") + file + END;
      assertThat(post(gateway, SPEECH, FORM, good, key).status()).isEqualTo(200);
      assertThat(post(gateway, SPEECH + "?model=m", FORM, file + END, key).status()).isEqualTo(200);
      int served = engine.received();

      String twice = field("model", "m") + file + field("model", "hidden") + END;
      Reply refused = post(gateway, SPEECH, FORM, twice, key);
      assertThat(refused.status()).as(refused.text()).isEqualTo(400);
      assertThat(refused.json().at("/error/param").asText()).isEqualTo("model");
      String late = file + field("model", "hidden") + END;
      for (String target : List.of(SPEECH, SPEECH + "?model=m", "/v1/files?model=m")) {
        Reply hidden = post(gateway, target, FORM, late, key);
        assertThat(hidden.status()).as(target + hidden.text()).isEqualTo(404);
      }
      assertThat(engine.received()).as("forms that are complete").isEqualTo(served);
      assertThat(gateway.metric("kvasir_body_bytes")).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\n",
        "--Bo\r\nContent-Disposition: form-data; name*=utf-8''model\r\n\r\nhidden\r\n",
        "--Bo\r\nContent-Disposition: form-data; name=\"mod\\el\"\r\n\r\nhidden\r\n",
        "--Bo\r\nX: a\n\nb: c\r\nContent-Disposition: form-data; name=model\r\n\r\nhidden\r\n",
        "--Bo\r\nContent-Disposition: form-data; name=a\r\n\r\nb\r\n--Bo-x\r\n",
        "--Bo\r\nContent-Disposition: form-data; name=a\r\n\r\nb\r\n--Boo\r\n",
      })
  void aFormThatReadersUnderstandDifferentlyIsRefusedWithAKeyForSomeModels(String beginning)
      throws IOException {
    String form = beginning + field("model", "m") + END;
    String key = key(new KeyLimits(List.of("m"), 0, 0, 0, 0));
    try (ScriptedEngine engine = speech();
        TestGateway gateway = keyed(engine).start()) {
      Reply refused = post(gateway, SPEECH, FORM, form, key);
      assertThat(refused.status()).as(refused.text()).isEqualTo(400);
      String types = FORM + "; boundary=C";
      String plain = field("model", "m") + END;
      assertThat(post(gateway, SPEECH, types, plain, key).status()).isEqualTo(400);
      assertThat(engine.received()).isZero();
      assertThat(post(gateway, SPEECH, FORM, plain, key).status()).isEqualTo(200);
    }
  }

  @Test
  void aQueryReachesNoOtherModel() throws IOException {
    String key = key(new KeyLimits(List.of("m"), 0, 0, 0, 0));
    try (ScriptedEngine engine = speech();
        TestGateway gateway = keyed(engine).start()) {
      String form = field("model", "m") + END;
      assertThat(post(gateway, SPEECH + "?model=hidden", FORM, form, key).status()).isEqualTo(404);
      assertThat(gateway.post(CHAT + "?model=hidden", ASK, key).status()).isEqualTo(404);
      assertThat(gateway.get("/v1/things?model=m&model=hidden", key).status()).isEqualTo(400);
      assertThat(gateway.get("/v1/engines/hidden/x?model=m", key).status()).isEqualTo(404);
      String encoded = "application/x-www-form-urlencoded";
      for (String body : List.of("model=m&model=hidden", "model=m;model=hidden")) {
        assertThat(post(gateway, SPEECH, encoded, body, key).status()).as(body).isEqualTo(400);
      }
      assertThat(engine.received()).isZero();
      assertThat(post(gateway, SPEECH + "?model=m", FORM, form, key).status()).isEqualTo(200);
    }
  }
}
