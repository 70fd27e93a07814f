package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.exchange.EngineFlavor;
import io.kvasir.gateway.events.RankReport;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.ModelFleet;
import io.kvasir.testing.harness.Await;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * What is known of a worker's blocks after it was unhealthy. Its events have no replay; its health
 * is that of a scripted engine.
 */
class RecoveryTest {

  private static final long SEED = Long.getLong("kvasir.test.seed", 17);
  private static final int TOKENS = 256;

  private final Random random = new Random(SEED);

  private static TestGateway gateway(ScriptedEngine health, StandInServer engine) {
    String worker = "http://" + health.name() + ",ranks=1,block_size=" + StandInServer.BLOCK;
    return TestGateway.of(List.of(worker + engine.liveEvents()))
        .router(GatewaySettings.AUTO)
        .healthEveryMs(20)
        .start();
  }

  private static FleetWorker worker(TestGateway gateway) {
    return gateway.gateway().fleets().workers().get(0);
  }

  private static RankReport report(TestGateway gateway) {
    ModelFleet fleet = gateway.gateway().fleets().fleet("m");
    return fleet.followed().report(worker(gateway), 0);
  }

  /** The engine serves a new prompt; whether some block arrived at the gateway by now. */
  private boolean publishes(StandInServer engine, TestGateway gateway) {
    String ids = random.ints(TOKENS, 0, 256).boxed().toList().toString();
    engine.post(
        "/v1/completions",
        "{\"model\":\"" + StandInServer.MODEL + "\",\"max_tokens\":1,\"prompt\":" + ids + "}");
    return report(gateway).blocks() > 0;
  }

  private static void becomesUnhealthy(
      ScriptedEngine health, StandInServer engine, TestGateway gateway) {
    Await.until("all blocks", () -> report(gateway).feed().lastNumber() == engine.lastBatch());
    health.healthy(false);
    Await.until("an unhealthy worker", () -> !worker(gateway).healthy());
  }

  @Test
  void aHealthyWorkerHasNoBlocksOfItsEarlierLife() {
    try (StandInServer engine = StandInServer.start(EngineFlavor.VLLM, 1);
        ScriptedEngine health = ScriptedEngine.good();
        TestGateway gateway = gateway(health, engine)) {
      Await.until("blocks", () -> publishes(engine, gateway));
      becomesUnhealthy(health, engine, gateway);
      assertThat(report(gateway).blocks()).isPositive();
      health.healthy(true);
      Await.until("a healthy worker", () -> worker(gateway).healthy());
      assertThat(report(gateway).blocks()).isZero();
    }
  }

  @Test
  void blocksOfItsNewLifeStay() {
    try (StandInServer engine = StandInServer.start(EngineFlavor.VLLM, 1);
        ScriptedEngine health = ScriptedEngine.good();
        TestGateway gateway = gateway(health, engine)) {
      Await.until("blocks", () -> publishes(engine, gateway));
      becomesUnhealthy(health, engine, gateway);
      engine.faults("{'restart':true}");
      Await.until(
          "blocks of the new life",
          () -> publishes(engine, gateway) && report(gateway).feed().restarts() == 1);
      health.healthy(true);
      Await.until("a healthy worker", () -> worker(gateway).healthy());
      assertThat(report(gateway).blocks()).isPositive();
      health.models("{\"data\":[{\"id\":\"m\"},{\"id\":\"n\"}]}");
      Await.until("another check", () -> worker(gateway).models().contains("n"));
      assertThat(report(gateway).blocks()).isPositive();
      assertThat(report(gateway).feed().restarts()).isEqualTo(1);
    }
  }

  @Test
  void anEngineThatWasStartedAgainIsAskedAboutItself() {
    try (StandInServer engine = StandInServer.start(EngineFlavor.VLLM, 1);
        ScriptedEngine health = ScriptedEngine.good().fact("/version", "{\"version\":\"0.10.0\"}");
        TestGateway gateway = gateway(health, engine)) {
      Await.until("blocks", () -> publishes(engine, gateway));
      assertThat(worker(gateway).facts().version()).isEqualTo("0.10.0");
      health.fact("/version", "{\"version\":\"0.11.0\"}");
      engine.faults("{'restart':true}");
      Await.until(
          "the new version",
          () -> publishes(engine, gateway) && worker(gateway).facts().version().equals("0.11.0"));
      assertThat(worker(gateway).recoveries()).isEqualTo(1);
    }
  }
}
