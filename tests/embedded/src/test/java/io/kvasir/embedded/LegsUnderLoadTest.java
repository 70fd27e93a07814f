package io.kvasir.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.embedded.EngineClient.Pending;
import io.kvasir.embedded.EngineClient.Reply;
import io.kvasir.embedded.disagg.EngineRole;
import io.kvasir.embedded.disagg.KvConnector;
import io.kvasir.embedded.disagg.RoleSettings;
import io.kvasir.engine.execute.KvTransfer;
import io.kvasir.testing.harness.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.UnaryOperator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Many requests over two engines at once, some of whose clients leave: nothing stays behind. */
class LegsUnderLoadTest {

  private static final int CLIENTS = 6;
  private static final int REQUESTS = 25;
  private static final long FIRST_ID = 1L << 42;

  private TestEngine prefill;
  private TestEngine decode;

  @ParameterizedTest
  @EnumSource(KvConnector.class)
  void nothingStaysBehind(KvConnector connector) {
    UnaryOperator<RoleSettings.Builder> settings =
        builder -> builder.engineId("p").leaseMs(200).waitMs(200).link(new KvTransfer(1, 1e-3));
    prefill = TestEngine.open(EngineRole.PREFILL, connector, settings);
    decode = TestEngine.open(EngineRole.DECODE, connector, settings);
    ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
    try (TestEngine first = prefill;
        TestEngine second = decode) {
      List<Future<Integer>> all = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        int client = i;
        all.add(clients.submit(() -> run(connector, client)));
      }
      int answered = 0;
      for (Future<Integer> each : all) {
        answered += Await.result("client", each);
      }
      assertThat(answered).isGreaterThan(CLIENTS * REQUESTS / 4);
      for (TestEngine engine : List.of(first, second)) {
        engine.awaitIdle();
        Await.until("no request in " + engine.transfers(), () -> unfinished(engine) == 0);
      }
      assertThat(first.count("sent")).isGreaterThanOrEqualTo(answered);
    } finally {
      clients.shutdownNow();
    }
  }

  /** Requests that an engine says it has. */
  private static double unfinished(TestEngine engine) {
    Reply prometheus = engine.client.get("/prometheus/metrics"); // of TensorRT-LLM only
    Reply metrics = prometheus.status() == 200 ? prometheus : engine.client.get("/metrics");
    return metrics
        .text()
        .lines()
        .filter(line -> line.matches("\\w+[:_]num_(requests_)?(running|waiting|queue)[_a-z]*\\{.*"))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  /** Sends requests one after the other; returns how many were answered. */
  private int run(KvConnector connector, int client) {
    Random random = new Random(client);
    int answered = 0;
    for (int i = 0; i < REQUESTS; i++) {
      long id = FIRST_ID + (long) client * REQUESTS + i;
      ObjectNode body = TestEngine.prompt(5 + random.nextInt(60), random.nextInt(9), 1);
      int rank = random.nextInt(TestEngine.RANKS);
      Pending first = prefill.send(TestEngine.TEXT, rank, prefillLeg(connector, body, id));
      if (random.nextInt(8) == 0) {
        first.run(first.call::cancel);
        if (serial(connector)) {
          continue;
        }
      }
      JsonNode said = serial(connector) ? TestEngine.ok(first.await()) : body;
      body.put("max_tokens", 1 + random.nextInt(20));
      ObjectNode leg = decodeLeg(connector, body, id, rank, said);
      Pending second = decode.send(TestEngine.TEXT, random.nextInt(TestEngine.RANKS), leg);
      if (random.nextInt(8) == 0) {
        second.run(second.call::cancel);
        continue;
      }
      Reply reply = second.await();
      assertThat(reply.status()).as(reply.text()).isIn(200, 500);
      answered += reply.status() == 200 ? 1 : 0;
    }
    return answered;
  }

  private static boolean serial(KvConnector connector) {
    return connector == KvConnector.NIXL || connector == KvConnector.TRTLLM;
  }

  private ObjectNode prefillLeg(KvConnector connector, ObjectNode body, long id) {
    ObjectNode leg = body.deepCopy();
    switch (connector) {
      case BOOTSTRAP -> room(leg, id);
      case TRTLLM ->
          leg.putObject("disaggregated_params")
              .put("request_type", "context_only")
              .put("disagg_request_id", id);
      default -> {
        ObjectNode params = leg.putObject("kv_transfer_params");
        params.put("do_remote_decode", true).put("do_remote_prefill", false);
        if (connector != KvConnector.NIXL) {
          params.put("transfer_id", "x" + id);
        }
      }
    }
    return leg;
  }

  private void room(ObjectNode leg, long id) {
    leg.put("bootstrap_host", "127.0.0.1")
        .put("bootstrap_port", prefill.port())
        .put("bootstrap_room", id);
  }

  private ObjectNode decodeLeg(
      KvConnector connector, ObjectNode body, long id, int rank, JsonNode said) {
    ObjectNode leg = body.deepCopy();
    switch (connector) {
      case BOOTSTRAP -> {
        room(leg, id);
        leg.put("disagg_prefill_dp_rank", rank);
      }
      case TRTLLM -> {
        ObjectNode params = (ObjectNode) said.at("/choices/0/disaggregated_params");
        leg.set("disaggregated_params", params.put("request_type", "generation_only"));
      }
      case NIXL -> leg.set("kv_transfer_params", said.path("kv_transfer_params"));
      default -> {
        ObjectNode params = leg.putObject("kv_transfer_params");
        params
            .put("do_remote_decode", false)
            .put("do_remote_prefill", true)
            .put("transfer_id", "x" + id)
            .put("remote_engine_id", "p_dp" + rank);
        if (connector == KvConnector.MOONCAKE) {
          params.put("remote_bootstrap_addr", "http://127.0.0.1:" + prefill.port());
        } else {
          params.put("remote_host", "127.0.0.1").put("remote_port", prefill.port());
        }
      }
    }
    return leg;
  }
}
