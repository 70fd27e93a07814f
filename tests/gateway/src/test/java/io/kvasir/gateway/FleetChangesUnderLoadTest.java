package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.exchange.EngineFlavor;
import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.route.ModelFleet;
import io.kvasir.testing.harness.Await;
import io.kvasir.testing.harness.LongRuns;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Random changes of the workers under load: no request fails, no stream is cut, and a worker that
 * stays keeps its blocks.
 */
class FleetChangesUnderLoadTest {

  private static final String KEY = "operators-only";
  private static final long SEED = 39;
  private static final int CHANGES = LongRuns.cases(60, 2_000);
  private static final int WORKERS = 4;
  private static final int CONVERSATIONS = 8;

  private final Random random = new Random(SEED);
  private final List<StandInServer> servers = new ArrayList<>();
  private TestGateway gateway;

  /** What a worker's description has besides the stand-in's own, so that it changes. */
  private final int[] versions = new int[WORKERS];

  private String description(int number) {
    // Which keys differ does not matter; this one has no effect at an engine with a block size.
    return servers.get(number).worker() + (versions[number] % 2 == 0 ? "" : ",block_size=32");
  }

  private static String id(StandInServer server) {
    return "127.0.0.1:" + server.port();
  }

  private JsonNode worker(int number) {
    return gateway.admin("/kvasir/workers/" + id(servers.get(number))).json();
  }

  private void change(String method, String path, String body) {
    Reply reply = gateway.change(method, path, body, KEY);
    assertThat(reply.status()).as("%s %s: %s", method, path, reply.text()).isIn(200, 201, 404);
  }

  /** Changes any worker but the first, which stays, so that one can always serve. */
  private void changeAny() {
    int number = 1 + random.nextInt(WORKERS - 1);
    String path = "/" + id(servers.get(number));
    switch (random.nextInt(4)) {
      case 0 -> change("DELETE", path, "");
      case 1 -> change("PATCH", path, "{'cordoned':" + random.nextBoolean() + "}");
      case 2 -> {
        versions[number]++;
        change("PUT", path, "{'worker':'" + description(number) + "'}");
      }
      default -> change("POST", "", "{'worker':'" + description(number) + "','cordoned':false}");
    }
  }

  @Test
  void noChangeLosesARequest() {
    System.out.println("seed " + SEED);
    for (int i = 0; i < WORKERS; i++) {
      servers.add(StandInServer.start(EngineFlavor.VLLM, 2));
    }
    List<String> workers = servers.stream().map(StandInServer::worker).toList();
    try (TestGateway started = TestGateway.of(workers).router("projected").adminKey(KEY).start()) {
      gateway = started;
      LegLoad load = LegLoad.start(gateway, CONVERSATIONS);
      int blocks;
      try (load) {
        load.awaitRequests();
        blocks = blocksOfFirst();
        for (int i = 0; i < CHANGES; i++) {
          changeAny();
          if (i % 5 == 0) {
            load.awaitRequests();
          }
        }
        for (int i = 1; i < WORKERS; i++) {
          change("POST", "", "{'worker':'" + description(i) + "','cordoned':false}");
        }
        load.awaitRequests();
        for (int i = 0; i < WORKERS; i++) {
          int number = i;
          Await.until("all workers serve", () -> worker(number).path("takes_requests").asBoolean());
        }
        load.awaitRequests();
      }
      assertThat(load.lost()).isEmpty();
      assertThat(load.cut()).isEmpty();
      assertThat(blocksOfFirst()).isGreaterThanOrEqualTo(blocks);
      Await.until(
          "no worker goes any more",
          () -> gateway.admin("/kvasir/workers").json().size() == WORKERS);
      Await.until("nothing is booked", this::isUnloaded);
    } finally {
      servers.forEach(StandInServer::close);
    }
  }

  @Test
  void noChangeOfTheOnlyWorkerLosesARequest() {
    servers.add(StandInServer.start(EngineFlavor.VLLM, 2));
    List<String> workers = List.of(servers.get(0).worker());
    try (TestGateway started = TestGateway.of(workers).router("projected").adminKey(KEY).start()) {
      gateway = started;
      LegLoad load = LegLoad.start(gateway, CONVERSATIONS);
      try (load) {
        for (int i = 0; i < CHANGES / 3; i++) {
          load.awaitRequests();
          versions[0]++;
          change("PUT", "/" + id(servers.get(0)), "{'worker':'" + description(0) + "'}");
          Await.until("the change", () -> !worker(0).path("state").asText().equals("coming"));
        }
        load.awaitRequests();
      }
      assertThat(load.lost()).isEmpty();
      assertThat(load.cut()).isEmpty();
      Await.until("its blocks", () -> blocksOfFirst() > 0);
    } finally {
      servers.forEach(StandInServer::close);
    }
  }

  private int blocksOfFirst() {
    for (JsonNode each : gateway.admin("/kvasir/ranks").json()) {
      if (each.path("worker_id").asText().equals(id(servers.get(0)))) {
        return each.at("/ranks/0/blocks").asInt() + each.at("/ranks/1/blocks").asInt();
      }
    }
    throw new AssertionError("the first worker is not in its fleet");
  }

  private boolean isUnloaded() {
    ModelFleet fleet = gateway.gateway().fleets().fleet(StandInServer.MODEL);
    PredictedLoads loads = new PredictedLoads();
    fleet.loads(loads);
    long active = 0;
    for (int i = 0; i < loads.size(); i++) {
      active += loads.activeRequests(i);
    }
    return active == 0 && loads.size() == 2 * WORKERS;
  }
}
