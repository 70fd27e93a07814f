package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.ScriptedEngine.Script;
import io.kvasir.testing.harness.Await;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Responses, files and batches that engines keep, and a gateway that has not seen them made. */
class StoredObjectsTest {

  private static final String ADMIN_KEY = "admin";
  private static final String ASK = "{\"model\":\"m\",\"input\":\"Hi\"%s}";

  /** An engine that keeps one object. */
  private static Script keeps(String path) {
    String id = path.substring(path.lastIndexOf('/') + 1);
    return (request, link) -> {
      if (request.method().equals("POST") && !request.target().startsWith(path)) {
        link.json(200, "{\"id\":\"made\",\"object\":\"response\"}");
      } else if (request.target().startsWith(path)) {
        link.json(200, "{\"object\":{\"id\":\"x\"},\"id\":\"" + id + "\"}");
      } else {
        link.json(404, "{\"error\":{\"message\":\"not here\"}}");
      }
    };
  }

  private static String worker(Reply reply) {
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    return reply.field("x-kvasir-worker");
  }

  @Test
  void theWorkerThatKeepsAResponseIsFound() {
    try (ScriptedEngine a = ScriptedEngine.start(keeps("/v1/responses/resp_a"));
        ScriptedEngine b = ScriptedEngine.start(keeps("/v1/responses/resp_b"));
        ScriptedEngine c = ScriptedEngine.start(keeps("/v1/responses/resp_c"));
        TestGateway gateway = TestGateway.of(a, b, c).router("round_robin").start()) {
      assertThat(worker(gateway.get("/v1/responses/resp_b"))).isEqualTo(b.name());
      assertThat(worker(gateway.get("/v1/responses/resp_c/input_items?limit=2")))
          .isEqualTo(c.name());
      int asked = b.received();
      assertThat(worker(gateway.get("/v1/responses/resp_c"))).isEqualTo(c.name());
      assertThat(b.received()).as("c is known now").isEqualTo(asked);
      try (RawClient client = gateway.client()) {
        client.send("DELETE /v1/responses/resp_a HTTP/1.1\r\nHost: x\r\n\r\n");
        assertThat(worker(client.reply())).isEqualTo(a.name());
      }
    }
  }

  @Test
  void aRequestThatContinuesAResponseFindsItsWorker() {
    try (ScriptedEngine a = ScriptedEngine.start(keeps("/v1/responses/resp_a"));
        ScriptedEngine b = ScriptedEngine.start(keeps("/v1/responses/resp_b"));
        TestGateway gateway = TestGateway.of(a, b).router("round_robin").start()) {
      for (int i = 0; i < 3; i++) {
        String next = ASK.formatted(",\"previous_response_id\":\"resp_b\"");
        assertThat(worker(gateway.post("/v1/responses", next))).isEqualTo(b.name());
      }
      String unknown = ASK.formatted(",\"previous_response_id\":\"resp_x\"");
      assertThat(gateway.post("/v1/responses", unknown).status()).isEqualTo(200);
    }
  }

  @Test
  void theOwnerIsFoundAgainAfterItsDescriptionHasChanged() {
    try (ScriptedEngine a = ScriptedEngine.start(keeps("/v1/responses/resp_a"));
        ScriptedEngine b = ScriptedEngine.start(keeps("/v1/responses/resp_b"));
        ScriptedEngine c = ScriptedEngine.start(keeps("/v1/responses/resp_c"));
        TestGateway gateway = TestGateway.of(a, b, c).adminKey(ADMIN_KEY).start()) {
      assertThat(worker(gateway.get("/v1/responses/resp_b"))).isEqualTo(b.name());
      String changed = "{'worker':'http://" + b.name() + ",block_size=64'}";
      assertThat(gateway.change("PUT", "/" + b.name(), changed, ADMIN_KEY).status()).isEqualTo(200);
      Await.until(() -> gateway.metric("kvasir_worker_healthy") == 3);
      assertThat(worker(gateway.get("/v1/responses/resp_b"))).isEqualTo(b.name());
    }
  }

  @Test
  void filesAndBatchesAreFoundToo() {
    for (String path : List.of("/v1/files/file-1", "/v1/batches/batch_1")) {
      try (ScriptedEngine a = ScriptedEngine.start(keeps("/v1/other"));
          ScriptedEngine b = ScriptedEngine.start(keeps(path));
          TestGateway gateway = TestGateway.of(a, b).start()) {
        for (int i = 0; i < 3; i++) {
          assertThat(worker(gateway.get(path))).isEqualTo(b.name());
          assertThat(worker(gateway.get(path + "/content"))).isEqualTo(b.name());
        }
        Reply unknown = gateway.get(path + "9");
        assertThat(unknown.status()).as(unknown.text()).isIn(200, 404);
      }
    }
  }

  @Test
  void aBodyThatNamesAFileGoesToTheWorkerThatKeepsIt() {
    String part = "{\"type\":\"input_file\",\"file_id\":\"file-1\"}";
    String message = "{\"role\":\"user\",\"content\":[{\"type\":\"input_text\"},%s]}";
    String input = "{\"model\":\"m\",\"input\":[\"Hi\",7,%s]}";
    String output = "{\"type\":\"function_call_output\",\"output\":[%s]}";
    try (ScriptedEngine a = ScriptedEngine.start(keeps("/v1/other"));
        ScriptedEngine b = ScriptedEngine.start(keeps("/v1/files/file-1"));
        ScriptedEngine c = ScriptedEngine.start(keeps("/v1/other"))) {
      for (String body :
          List.of(
              input.formatted(message.formatted(part)), input.formatted(output.formatted(part)))) {
        try (TestGateway gateway = TestGateway.of(a, b, c).router("round_robin").start()) {
          for (int i = 0; i < 4; i++) {
            assertThat(worker(gateway.post("/v1/responses", body))).isEqualTo(b.name());
          }
        }
      }
      try (TestGateway gateway = TestGateway.of(a, b, c).router("round_robin").start()) {
        for (String file : List.of("file-1", "file\\u002d1")) {
          String batch = "{\"input_file_id\":\"" + file + "\",\"endpoint\":\"/v1/responses\"}";
          assertThat(worker(gateway.post("/v1/batches", batch))).isEqualTo(b.name());
        }
        String unknown = input.formatted(message.formatted(part.replace("file-1", "file-2")));
        assertThat(gateway.post("/v1/responses", unknown).status()).isEqualTo(200);
        a.script(
            (request, link) -> {
              if (request.target().startsWith("/v1/files/")) {
                link.json(503, "{}");
              } else {
                EngineLink.answer(request, link);
              }
            });
        Reply later = gateway.post("/v1/responses", unknown);
        assertThat(later.status())
            .as("although not all could be asked: %s", later.text())
            .isEqualTo(200);
      }
    }
  }

  @Test
  void theClientsKeyGoesWithTheQuestion() {
    try (ScriptedEngine a = ScriptedEngine.start(keeps("/v1/other"));
        ScriptedEngine b = ScriptedEngine.start(keeps("/v1/responses/resp_b"));
        TestGateway gateway = TestGateway.of(a, b).start()) {
      gateway.get("/v1/responses/resp_b", "Authorization: Bearer own");
      assertThat(a.next().field("authorization")).isEqualTo("Bearer own");
      assertThat(b.next().field("authorization")).isEqualTo("Bearer own");
    }
  }

  @Test
  void anUnknownResponseIsMissingOnlyIfAllWorkersSaySo() {
    try (ScriptedEngine a = ScriptedEngine.start(keeps("/v1/responses/resp_a"));
        ScriptedEngine b = ScriptedEngine.start(keeps("/v1/responses/resp_b"));
        TestGateway gateway = TestGateway.of(a, b).start()) {
      Reply unknown = gateway.get("/v1/responses/resp_x");
      assertThat(unknown.status()).isEqualTo(404);
      assertThat(unknown.code()).isEqualTo("response_not_found");
      b.script((request, link) -> link.json(503, "{}"));
      Reply later = gateway.get("/v1/responses/resp_x");
      assertThat(later.status()).isEqualTo(503);
      assertThat(later.field("retry-after")).isEqualTo("1");
    }
  }

  @Test
  void aWorkerThatLoadsMayKeepAResponse() {
    try (ScriptedEngine a = ScriptedEngine.start(keeps("/v1/responses/resp_a"));
        ScriptedEngine b = ScriptedEngine.start(keeps("/v1/responses/resp_b"))) {
      b.healthy(false);
      try (TestGateway gateway = TestGateway.of(a, b).start()) {
        Reply reply = gateway.get("/v1/responses/resp_b");
        assertThat(reply.status()).isEqualTo(503);
        assertThat(reply.code()).isEqualTo("no_endpoint");
        assertThat(worker(gateway.get("/v1/responses/resp_a"))).isEqualTo(a.name());
      }
    }
  }

  @Test
  void aPostToAnIdIsNoPath() {
    try (ScriptedEngine engine = ScriptedEngine.start(keeps("/v1/responses/resp_a"));
        TestGateway gateway = TestGateway.of(engine).start()) {
      Reply refused = gateway.post("/v1/responses/resp_a", ASK.formatted(""));
      assertThat(refused.status()).isEqualTo(404);
      assertThat(refused.code()).isEqualTo("not_found");
      assertThat(refused.message()).contains("/v1/responses/ID/cancel");
      assertThat(engine.received()).isZero();
      assertThat(worker(gateway.post("/v1/responses/resp_a/cancel", "{}")))
          .isEqualTo(engine.name());
      for (String computed : List.of("compact", "input_tokens", "render")) {
        assertThat(gateway.post("/v1/responses/" + computed, ASK.formatted("")).status())
            .as(computed)
            .isEqualTo(200);
      }
    }
  }
}
