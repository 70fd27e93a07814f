package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.testing.harness.Fuzz;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random requests to the admin port, with its key, another one or none. Each has an answer that is
 * no fault of the gateway, only the key changes workers, and the worker that serves stays as it is.
 */
class AdminFuzzTest {

  private static final String KEY = "operators-only-0123456789";
  private static final String CHANGES = "/kvasir/workers";

  private static final List<String> METHODS =
      List.of("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW");

  private static final List<String> PATHS =
      List.of(
          "/metrics",
          "/workers",
          "/query?query=up&time=1",
          "/kvasir/ranks",
          "/kvasir/decisions?limit=3&request_id=a",
          "/kvasir/explain?model=m",
          "/kvasir/parity?ranks=1",
          "/kvasir/dashboard",
          "/kvasir/dashboard/main.js",
          CHANGES,
          CHANGES + "/127.0.0.1:9",
          CHANGES + "/other:1/v1");

  /** A place for an address, which is not damaged: no other machine is to be asked. */
  private static final String ADDRESS = "@";

  private static final List<String> ADDRESSES =
      List.of(
          "http://127.0.0.1:9",
          "https://localhost:9/v1",
          "http://127.0.0.1:65536",
          "dns+http://localhost:9",
          "127.0.0.1:9",
          "http://",
          "");

  private static final List<String> BODIES =
      List.of(
          "{\"worker\":\"@\"}",
          "{\"worker\":\"@,ranks=2,weight=0.5,block_size=16\",\"cordoned\":true}",
          "{\"cordoned\":false}",
          "{\"weight\":0.5}",
          "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}",
          "[1,2,{\"a\":null}]",
          "");

  private static final byte[][] TOKENS = {
    bytes("\""),
    bytes("{"),
    bytes("}"),
    bytes("["),
    bytes("1e999"),
    bytes("-0"),
    bytes("null"),
    bytes("\\ud800"),
    bytes("\u00e9"),
    bytes("%00"),
    bytes("../"),
    bytes("?"),
    bytes("&"),
    bytes("="),
    bytes(","),
    bytes("ranks=0"),
    bytes("weight=-1"),
    bytes("role=prefill")
  };

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Tag("fuzz")
  @Test
  void requestsHarmNothing() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).adminKey(KEY).start()) {
      Fuzz.run("admin port", random -> check(gateway, engine.name(), random));
      assertThat(gateway.post(TestGateway.CHAT, TestGateway.ASK).status()).isEqualTo(200);
    }
  }

  private static void check(TestGateway gateway, String engine, Random random) {
    boolean key = random.nextInt(3) > 0;
    for (int i = 0; i < 10; i++) {
      String method = pick(random, METHODS);
      String path = path(random, engine);
      byte[] body = body(random);
      String given = key ? KEY : pick(random, List.of("", KEY.substring(1), KEY + "0"));
      String shown = method + " " + path + " " + new String(body, StandardCharsets.UTF_8);
      try (RawClient client = RawClient.to(gateway.gateway().adminPort())) {
        String field = "Authorization: Bearer " + given;
        Reply reply = client.send(RawClient.request(method, path, body, field)).reply();
        assertThat(reply.status()).as(shown).isBetween(200, 499);
        assertThat(reply.text()).as(shown).doesNotContain("Exception", KEY);
        boolean changes = path.startsWith(CHANGES) && !method.equals("GET");
        if (!key && changes) {
          assertThat(reply.status()).as(shown).isGreaterThanOrEqualTo(400);
        }
      }
    }
    JsonNode workers = gateway.admin(CHANGES).json();
    boolean stays = false;
    for (JsonNode worker : workers) {
      String id = worker.path("worker_id").asText();
      String state = worker.path("state").asText();
      if (id.equals(engine)) {
        stays = true;
        assertThat(state).isEqualTo("serving");
      } else {
        boolean known = key || state.equals("leaving"); // since an earlier case
        assertThat(known).as("only the key changes workers: %s", worker).isTrue();
        assertThat(gateway.change("DELETE", "/" + id, "", KEY).status()).isIn(200, 404);
      }
    }
    assertThat(stays).as(workers.toString()).isTrue();
  }

  private static String path(Random random, String engine) {
    String path = pick(random, PATHS);
    if (random.nextBoolean()) {
      path = new String(Fuzz.mutated(random, bytes(path), TOKENS), StandardCharsets.ISO_8859_1);
    }
    path = path.replaceAll("[^!-~]", "%");
    if (!path.startsWith("/")) {
      path = "/" + path;
    }
    return path.contains(engine) ? "/" : path; // the worker that serves is to stay
  }

  private static byte[] body(Random random) {
    byte[] body = bytes(pick(random, BODIES));
    if (random.nextBoolean()) {
      body = Fuzz.mutated(random, body, TOKENS);
    }
    String text = new String(body, StandardCharsets.ISO_8859_1);
    return text.replace(ADDRESS, pick(random, ADDRESSES)).getBytes(StandardCharsets.ISO_8859_1);
  }

  private static <T> T pick(Random random, List<T> all) {
    return all.get(random.nextInt(all.size()));
  }
}
