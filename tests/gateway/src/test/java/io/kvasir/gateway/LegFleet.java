package io.kvasir.gateway;

import io.kvasir.embedded.disagg.EngineRole;
import io.kvasir.embedded.disagg.KvConnector;
import io.kvasir.embedded.disagg.RoleSettings;
import io.kvasir.engine.execute.KvTransfer;
import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.fleet.router.trtllm.DisaggFlow.Style;
import io.kvasir.gateway.disagg.DisaggSettings;
import io.kvasir.gateway.disagg.RouterChoice;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.ModelFleet;
import io.kvasir.testing.harness.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Two prefill and two decode workers behind relays, and a gateway in front of them. */
final class LegFleet implements AutoCloseable {

  /** Transfers last as long in real time, so that faults can happen during one. */
  private static final double SECONDS_PER_TOKEN = 50e-6;

  /**
   * How long a leg waits for the other one, and blocks stay pinned; long enough that this does not
   * happen on a busy machine twice to one request.
   */
  private static final int LIMIT_MS = 3_000;

  /**
   * A kill costs each request of that worker an attempt, and one of both legs two: the next kill
   * must not find a request without any.
   */
  private static final int MANY_ATTEMPTS = 10;

  private static final int MOMENT_MS = 300;
  private static final int EACH = 2;
  private static final int ANY_NUMBER = 100_000;

  final ArmedFault faults = new ArmedFault();
  final List<RelayedLeg> prefills = new ArrayList<>();
  final List<RelayedLeg> decodes = new ArrayList<>();
  final TestGateway gateway;

  private final int limitMs;

  /** A fleet whose gateway sends requests again whenever it may. */
  static LegFleet underLoad(KvConnector connector, Style style) {
    return new LegFleet(connector, style, LIMIT_MS, Await.limitMs(), ANY_NUMBER);
  }

  static LegFleet withoutRetries(KvConnector connector) {
    return new LegFleet(connector, Style.CONTEXT_FIRST, LIMIT_MS, Await.limitMs(), 0);
  }

  /** A fleet whose gateway waits a moment for prefill legs, and whose engines wait much longer. */
  static LegFleet impatient(KvConnector connector, Style style) {
    return new LegFleet(connector, style, 10 * Await.limitMs(), MOMENT_MS, 0);
  }

  private LegFleet(
      KvConnector connector, Style style, int limitMs, int prefillTimeoutMs, int retryReserve) {
    this.limitMs = limitMs;
    // The stand-ins of NIXL's push have no side channel for each rank.
    int ranks = connector == KvConnector.NIXL_PUSH ? 1 : 2;
    for (int i = 0; i < EACH; i++) {
      prefills.add(RelayedLeg.start(part(EngineRole.PREFILL, connector), ranks, faults));
      decodes.add(RelayedLeg.start(part(EngineRole.DECODE, connector), ranks, faults));
    }
    List<String> workers = new ArrayList<>();
    all().forEach(leg -> workers.add(leg.worker()));
    gateway =
        TestGateway.of(workers)
            .disagg(settings(style, prefillTimeoutMs))
            .healthEveryMs(50)
            .maxAttempts(MANY_ATTEMPTS)
            .retryReserve(retryReserve)
            .start();
  }

  private RoleSettings part(EngineRole role, KvConnector connector) {
    return RoleSettings.builder(role, connector)
        .link(new KvTransfer(1, 1 / (SECONDS_PER_TOKEN * StandInServer.SPEED)))
        .leaseMs(limitMs)
        .waitMs(limitMs)
        .build();
  }

  private static DisaggSettings settings(Style style, int prefillTimeoutMs) {
    RouterChoice auto = new RouterChoice(RouterChoice.AUTO, Map.of());
    return new DisaggSettings(style, 0, 1, null, auto, auto, prefillTimeoutMs, false, false);
  }

  List<RelayedLeg> all() {
    List<RelayedLeg> all = new ArrayList<>(prefills);
    all.addAll(decodes);
    return all;
  }

  /**
   * Starts a worker again that was killed, once the gateway has seen that it is away: it must not
   * see that during the next fault.
   */
  void recover(RelayedLeg killed) {
    Await.until(
        "the gateway has seen that " + killed.name() + " is away",
        () ->
            gateway.gateway().fleets().workers().stream()
                .anyMatch(worker -> worker.name().equals(killed.name()) && !worker.healthy()));
    killed.restart();
    awaitHealthy();
  }

  void awaitHealthy() {
    Await.until(
        "all workers are healthy",
        () -> gateway.gateway().fleets().workers().stream().allMatch(FleetWorker::healthy));
  }

  /** The sum of a number of transfers over workers. */
  static int count(List<RelayedLeg> legs, String name) {
    return legs.stream().mapToInt(leg -> leg.standIn().transfers().path(name).asInt()).sum();
  }

  /** Waits until nothing is left of any request: at ranks' loads, workers and stand-ins. */
  void awaitIdle() {
    awaitUnloaded();
    all().forEach(leg -> await(leg, "open"));
  }

  /** Waits until nothing is booked, and no block is kept. */
  void awaitUnloaded() {
    Await.until(
        "no request is in flight and nothing is booked",
        () ->
            gateway.gateway().fleets().workers().stream()
                    .allMatch(worker -> worker.membership().activeRequests() == 0)
                && gateway.gateway().fleets().all().stream().allMatch(LegFleet::isIdle));
    all().forEach(leg -> await(leg, "pinned_blocks"));
    all().forEach(leg -> await(leg, "arriving_blocks"));
  }

  private static void await(RelayedLeg leg, String none) {
    Await.until(
        "no " + none + " at " + leg.name(),
        () -> leg.standIn().transfers().path(none).asInt(-1) == 0);
  }

  private static boolean isIdle(ModelFleet fleet) {
    PredictedLoads loads = new PredictedLoads();
    fleet.loads(loads);
    for (int i = 0; i < loads.size(); i++) {
      if (loads.activeRequests(i) != 0 || loads.activeBlocks(i) != 0) {
        return false;
      }
    }
    return true;
  }

  @Override
  public void close() {
    gateway.close();
    all().forEach(RelayedLeg::close);
  }
}
