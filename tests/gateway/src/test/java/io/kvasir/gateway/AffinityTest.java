package io.kvasir.gateway;

import static io.kvasir.gateway.TestGateway.ASK;
import static io.kvasir.gateway.TestGateway.ASK_STREAM;
import static io.kvasir.gateway.TestGateway.CHAT;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.ScriptedEngine.Script;
import io.kvasir.testing.harness.Await;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Which worker serves the requests of a conversation, and what happens when a worker dies. */
class AffinityTest {

  private static String worker(Reply reply) {
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    return reply.field("x-kvasir-worker");
  }

  @Test
  void aConversationStaysOnItsWorker() {
    try (ScriptedEngine a = ScriptedEngine.good();
        ScriptedEngine b = ScriptedEngine.good();
        ScriptedEngine c = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(a, b, c).start()) {
      Set<String> used = new HashSet<>();
      for (String header :
          new String[] {
            "X-Session-ID", "X-Correlation-ID", "X-Claude-Code-Session-Id", "X-Session-Affinity"
          }) {
        for (int conversation = 0; conversation < 6; conversation++) {
          String field = header + ": " + header + conversation;
          String first = worker(gateway.post(CHAT, ASK, field));
          used.add(first);
          for (int turn = 0; turn < 4; turn++) {
            String body = turn % 2 == 0 ? ASK : ASK_STREAM;
            assertThat(worker(gateway.post(CHAT, body, field))).isEqualTo(first);
          }
        }
      }
      assertThat(used).hasSizeGreaterThan(1);
    }
  }

  @Test
  void aSubagentStaysOnTheWorkerOfItsParent() {
    try (ScriptedEngine a = ScriptedEngine.good();
        ScriptedEngine b = ScriptedEngine.good();
        ScriptedEngine c = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(a, b, c).start()) {
      Set<String> used = new HashSet<>();
      for (int parent = 0; parent < 6; parent++) {
        String first = worker(gateway.post(CHAT, ASK, "X-Session-ID: p" + parent));
        used.add(first);
        for (int i = 0; i < 4; i++) {
          String own = "sub" + parent + "-" + i;
          String id = "p" + parent;
          String named =
              ASK.replaceFirst(
                  "\\{",
                  "{\"conversation_params\":{\"conversation_id\":\"%s\",\"subagent_affinity_id\":\"%s\"},"
                      .formatted(own, id));
          Reply reply =
              i % 2 == 0
                  ? gateway.post(CHAT, named)
                  : gateway.post(
                      CHAT, ASK, "X-Session-ID: " + own, "X-TRTLLM-Subagent-Affinity-ID: " + id);
          assertThat(worker(reply)).isEqualTo(first);
        }
      }
      assertThat(used).hasSizeGreaterThan(1);
    }
  }

  @Test
  void theFirstTurnGoesToTheLeastLoadedWorker() {
    CountDownLatch go = new CountDownLatch(1);
    Script held =
        (request, link) -> {
          Await.opened("the signal to go on", go);
          EngineLink.answer(request, link);
        };
    try (ScriptedEngine a = ScriptedEngine.start(held);
        ScriptedEngine b = ScriptedEngine.start(held);
        TestGateway gateway = TestGateway.of(a, b).start()) {
      List<RawClient> clients = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        RawClient client = gateway.client();
        clients.add(client.send(RawClient.post(CHAT, ASK, "X-Session-ID: c" + i)));
        int sent = i + 1;
        Await.until(() -> a.received() + b.received() == sent);
        assertThat(Math.abs(a.received() - b.received())).isLessThanOrEqualTo(1);
      }
      go.countDown();
      for (RawClient client : clients) {
        assertThat(client.reply().status()).isEqualTo(200);
        client.close();
      }
    }
  }

  @Test
  void theConversationsOfADeadWorkerMoveAndStay() {
    try (ScriptedEngine a = ScriptedEngine.good();
        ScriptedEngine b = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(a, b).start()) {
      List<String> ofA = new ArrayList<>();
      for (int i = 0; ofA.size() < 5; i++) {
        String field = "X-Session-ID: c" + i;
        if (worker(gateway.post(CHAT, ASK, field)).equals(a.name())) {
          ofA.add(field);
        }
      }
      a.kill();
      for (int turn = 0; turn < 3; turn++) {
        for (String field : ofA) {
          assertThat(worker(gateway.post(CHAT, ASK, field))).isEqualTo(b.name());
        }
      }
    }
  }

  @Test
  void aWorkerThatDiesLosesNoRequestThatHadNotBegunToStream() {
    int requests = 50;
    CountDownLatch all = new CountDownLatch(requests);
    CountDownLatch go = new CountDownLatch(1);
    AtomicInteger begun = new AtomicInteger();
    Script half =
        (request, link) -> {
          int number = all.getCount() > 0 ? begun.getAndIncrement() : -1;
          if (number >= 0) {
            link.stream();
            link.chunk(": ping\n\n");
            if (number % 3 == 0) {
              link.token("begun");
            }
          }
          all.countDown();
          Await.opened("the signal to go on", go);
          if (number < 0) {
            link.stream();
          }
          link.token("done");
          link.endStream();
        };
    try (ScriptedEngine a = ScriptedEngine.start(half);
        ScriptedEngine b = ScriptedEngine.start(half);
        TestGateway gateway = TestGateway.of(a, b).start()) {
      List<RawClient> clients = new ArrayList<>();
      for (int i = 0; i < requests; i++) {
        byte[] request = RawClient.post(CHAT, ASK_STREAM, "X-Session-ID: c" + i);
        clients.add(gateway.client().send(request));
      }
      Await.opened("all requests are at an engine", all);
      Await.until(() -> gateway.metric("kvasir_time_to_first_token_seconds_count") == 17);
      int atA = a.received();
      assertThat(atA).isBetween(10, 40);
      a.kill();
      Await.until(() -> gateway.metric("kvasir_retries_total") >= atA / 2.0);
      go.countDown();
      int cut = 0;
      for (RawClient client : clients) {
        assertThat(client.head().status()).isEqualTo(200);
        StringBuilder text = new StringBuilder();
        for (String next = client.event(); next != null; next = client.event()) {
          text.append(next);
          if (next.contains("[DONE]") || next.contains("error")) {
            break;
          }
        }
        if (text.indexOf("[DONE]") < 0) {
          assertThat(text).contains("begun");
          cut++;
        }
        client.close();
      }
      assertThat(cut).isLessThanOrEqualTo(17);
      assertThat(cut + b.received()).isGreaterThanOrEqualTo(requests);
      assertThat(gateway.metric("kvasir_num_requests_running")).isZero();
    }
  }

  @Test
  void aResponseStaysWithItsWorker() {
    AtomicInteger ids = new AtomicInteger();
    Script responses =
        (request, link) -> {
          String id = "resp_" + ids.incrementAndGet();
          if (request.method().equals("POST") && request.streams()) {
            link.stream();
            link.chunk(
                "event: response.created\ndata: {\"type\":\"response.created\",\"response\":"
                    + "{\"id\":\""
                    + id
                    + "\",\"object\":\"response\"}}\n\n");
            link.chunk("event: response.completed\ndata: {\"type\":\"response.completed\"}\n\n");
            link.raw("0\r\n\r\n");
          } else if (request.method().equals("POST")) {
            link.json(
                200, "{\"object\":\"response\",\"output\":[{\"id\":\"x\"}],\"id\":\"" + id + "\"}");
          } else {
            link.json(200, "{\"target\":\"" + request.target() + "\"}");
          }
        };
    String body = "{\"model\":\"m\",\"input\":\"Hi\"%s}";
    try (ScriptedEngine a = ScriptedEngine.start(responses);
        ScriptedEngine b = ScriptedEngine.start(responses);
        ScriptedEngine c = ScriptedEngine.start(responses);
        TestGateway gateway = TestGateway.of(a, b, c).router("round_robin").start()) {
      for (int i = 0; i < 6; i++) {
        String more = i % 2 == 0 ? "" : ",\"stream\":true";
        String worker = worker(gateway.post("/v1/responses", body.formatted(more)));
        String id = "resp_" + ids.get();
        String next = ",\"previous_response_id\":\"" + id + "\"";
        assertThat(worker(gateway.post("/v1/responses", body.formatted(next)))).isEqualTo(worker);
        assertThat(worker(gateway.get("/v1/responses/" + id))).isEqualTo(worker);
        assertThat(gateway.get("/v1/responses/" + id + "/input_items?limit=2").text())
            .contains("/v1/responses/" + id + "/input_items?limit=2");
        try (RawClient client = gateway.client()) {
          client.send("DELETE /v1/responses/" + id + " HTTP/1.1\r\nHost: x\r\n\r\n");
          assertThat(worker(client.reply())).isEqualTo(worker);
          client.send(
              "POST /v1/responses/"
                  + id
                  + "/cancel HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
          assertThat(worker(client.reply())).isEqualTo(worker);
        }
      }
      Reply unknown = gateway.get("/v1/responses/resp_none");
      assertThat(unknown.status()).isEqualTo(404);
      assertThat(unknown.code()).isEqualTo("response_not_found");
      String mine = worker(gateway.post("/v1/responses", body.formatted("")));
      String id = "resp_" + ids.get();
      List.of(a, b, c).stream().filter(e -> e.name().equals(mine)).forEach(ScriptedEngine::kill);
      Reply lost = gateway.get("/v1/responses/" + id);
      assertThat(lost.status()).isIn(502, 503);
      Reply unknownBefore =
          gateway.post("/v1/responses", body.formatted(",\"previous_response_id\":\"resp_none\""));
      assertThat(unknownBefore.status()).as("it may be at the worker that is gone").isEqualTo(503);
    }
  }

  @Test
  void longIdsOfResponsesAreIgnored() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).start()) {
      for (int characters : new int[] {256, 257}) {
        String id = "r".repeat(characters);
        engine.script((request, link) -> link.json(200, "{\"id\":\"" + id + "\"}"));
        Reply made = gateway.post("/v1/responses", "{\"model\":\"m\",\"input\":\"Hi\"}");
        assertThat(made.text()).contains(id);
        assertThat(gateway.get("/v1/responses/" + id).status())
            .isEqualTo(characters <= 256 ? 200 : 404);
      }
    }
  }
}
