package io.kvasir.gateway;

import io.kvasir.fleet.router.trtllm.DisaggFlow.Style;
import io.kvasir.gateway.disagg.DisaggSettings;
import io.kvasir.gateway.disagg.RouterChoice;
import io.kvasir.gateway.disagg.SigningKey;
import io.kvasir.gateway.legs.Faults;
import io.kvasir.gateway.legs.LegServer;
import io.kvasir.gateway.legs.LegServer.Setup;
import io.kvasir.gateway.legs.Mooncake;
import io.kvasir.gateway.legs.NixlPull;
import io.kvasir.gateway.legs.NixlPush;
import io.kvasir.gateway.legs.SglangBootstrap;
import io.kvasir.gateway.legs.Transfers;
import io.kvasir.gateway.legs.Trtllm;
import io.kvasir.testing.harness.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A gateway in front of two prefill and two decode servers of one protocol.
 *
 * @param gateway the gateway
 * @param prefills servers that compute prompts
 * @param decodes servers that generate answers
 * @param transfers the KV that they move
 * @param prefillFaults faults of the first
 * @param decodeFaults faults of the second
 */
record StrictLegs(
    TestGateway gateway,
    List<LegServer> prefills,
    List<LegServer> decodes,
    Transfers transfers,
    Faults prefillFaults,
    Faults decodeFaults)
    implements AutoCloseable {

  /** How two servers of a request work together. */
  enum Protocol {
    NIXL_PULL,
    NIXL_PUSH,
    MOONCAKE,
    SGLANG,
    CONTEXT_FIRST,
    GENERATION_FIRST;

    LegServer server(Setup setup) {
      return switch (this) {
        case NIXL_PULL -> new NixlPull(setup);
        case NIXL_PUSH -> new NixlPush(setup);
        case MOONCAKE -> new Mooncake(setup);
        case SGLANG -> new SglangBootstrap(setup);
        case CONTEXT_FIRST -> new Trtllm(setup, false);
        case GENERATION_FIRST -> new Trtllm(setup, true);
      };
    }
  }

  static StrictLegs start(Protocol protocol, long leaseMs) {
    Transfers transfers = new Transfers(leaseMs);
    Faults prefillFaults = new Faults();
    Faults decodeFaults = new Faults();
    List<LegServer> prefills = new ArrayList<>();
    List<LegServer> decodes = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      prefills.add(protocol.server(new Setup(true, i, transfers, prefillFaults)));
      decodes.add(protocol.server(new Setup(false, i, transfers, decodeFaults)));
    }
    List<LegServer> all = new ArrayList<>(prefills);
    all.addAll(decodes);
    RouterChoice router = new RouterChoice("round_robin", Map.of());
    Style style =
        protocol == Protocol.GENERATION_FIRST ? Style.GENERATION_FIRST : Style.CONTEXT_FIRST;
    SigningKey key = SigningKey.of("the key", Trtllm.KEY);
    TestGateway gateway =
        TestGateway.of(all.stream().map(LegServer::description).toList())
            .healthEveryMs(50)
            .disagg(
                new DisaggSettings(
                    style, -1, 1, key, router, router, Await.limitMs(), false, false))
            .start();
    StrictLegs fleet =
        new StrictLegs(gateway, prefills, decodes, transfers, prefillFaults, decodeFaults);
    all.forEach(server -> fleet.awaitHealthy(server, true));
    return fleet;
  }

  void awaitHealthy(LegServer server, boolean healthy) {
    String path = "/kvasir/workers/127.0.0.1:" + server.port();
    Await.until(
        path + " is healthy: " + healthy,
        () -> gateway.admin(path).json().path("healthy").asBoolean() == healthy);
  }

  List<LegServer> all() {
    List<LegServer> all = new ArrayList<>(prefills);
    all.addAll(decodes);
    return all;
  }

  /** Why servers have refused legs. */
  List<String> refused() {
    return all().stream().flatMap(server -> server.refused().stream()).toList();
  }

  /** Requests that decode servers have served alone. */
  int whole() {
    return decodes.stream().mapToInt(LegServer::whole).sum();
  }

  @Override
  public void close() {
    gateway.close();
    all().forEach(LegServer::close);
  }
}
