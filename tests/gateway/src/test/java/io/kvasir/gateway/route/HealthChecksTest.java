package io.kvasir.gateway.route;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.exchange.Headers;
import io.kvasir.exchange.ReplyListener;
import io.kvasir.exchange.Upstream;
import io.kvasir.exchange.UpstreamCall;
import io.kvasir.exchange.UpstreamFailure;
import io.kvasir.exchange.UpstreamRequest;
import io.kvasir.gateway.worker.WorkerSpec;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;

/** When the first round of health checks is over, and what later ones ask. */
class HealthChecksTest {

  private static final long INTERVAL_MS = 60_000;
  private static final BreakerSettings BREAKER = BreakerSettings.of(1, 1);

  private final PlannedActions loop = new PlannedActions();
  private int rounds;
  private HealthChecks checks;

  /** Answers when the test says so. */
  private static final class Engine implements Upstream {

    private final List<ReplyListener> asked = new ArrayList<>();
    private final List<String> targets = new ArrayList<>();
    private String version = "1";

    @Override
    public UpstreamCall send(UpstreamRequest request, ReplyListener reply, Executor loop) {
      asked.add(reply);
      targets.add(request.target());
      return new UpstreamCall() {
        @Override
        public void cancel() {}

        @Override
        public void pause() {}

        @Override
        public void resume() {}
      };
    }

    void refuses() {
      asked.remove(0).onAbort(new UpstreamFailure(UpstreamFailure.Kind.CONNECT, "refused"));
    }

    /** Answers all questions, those included that follow from answers. */
    void answers() {
      while (!asked.isEmpty()) {
        answersNext();
      }
    }

    void answersNext() {
      String body =
          switch (targets.get(targets.size() - asked.size())) {
            case "/version" -> "{\"version\":\"" + version + "\"}";
            case "/v1/models" -> "{\"data\":[{\"id\":\"m\"}]}";
            default -> "";
          };
      ReplyListener reply = asked.remove(0);
      reply.onHead(200, new Headers());
      reply.onChunk(Unpooled.copiedBuffer(body, StandardCharsets.UTF_8));
      reply.onEnd();
    }

    @Override
    public void close() {}
  }

  private static FleetWorker worker(int id, Engine engine) {
    WorkerSpec spec = WorkerSpec.parse("http://w" + id + ":1");
    return new FleetWorker(id, spec.name(), spec, engine, null, new Breaker(BREAKER));
  }

  private ModelFleets start(List<FleetWorker> workers) {
    ModelFleets fleets =
        new ModelFleets(
            workers,
            new Ejection(BREAKER),
            (model, worker) ->
                new ModelFleet(TestWorkers.router((name, arguments) -> {}), true, 16, null, null));
    checks = new HealthChecks(fleets, loop, INTERVAL_MS, 5_000, 1);
    checks.start(() -> rounds++);
    return fleets;
  }

  @Test
  void itIsOverWithoutWorkers() {
    start(List.of());
    assertThat(rounds).isEqualTo(1);
  }

  @Test
  void itIsOverOnceEachWorkerHasRefused() {
    Engine first = new Engine();
    Engine second = new Engine();
    start(List.of(worker(0, first), worker(1, second)));
    first.refuses();
    assertThat(rounds).isZero();
    second.refuses();
    assertThat(rounds).isEqualTo(1);
  }

  @Test
  void aWorkerThatLeavesIsNotWaitedFor() {
    Engine first = new Engine();
    Engine second = new Engine();
    FleetWorker leaves = worker(1, second);
    ModelFleets fleets = start(List.of(worker(0, first), leaves));
    first.refuses();
    fleets.remove(leaves);
    second.refuses();
    assertThat(rounds).isEqualTo(1);
  }

  @Test
  void aHealthyWorkerIsAskedAboutItsEngineNowAndThen() {
    Engine engine = new Engine();
    FleetWorker worker = worker(0, engine);
    start(List.of(worker));
    engine.answers();
    assertThat(worker.healthy()).isTrue();
    engine.version = "2";
    for (int check = 1; check <= 4; check++) {
      assertThat(worker.facts().version()).isEqualTo("1");
      loop.takeOnly().action().run();
      engine.answers();
    }
    assertThat(worker.facts().version()).isEqualTo("2");
    assertThat(worker.recoveries()).isEqualTo(1);
  }

  @Test
  void anEngineThatDoesNotSayItsFactsAgainKeepsThem() {
    Engine engine = new Engine();
    FleetWorker worker = worker(0, engine);
    start(List.of(worker));
    engine.answers();
    for (int check = 1; check <= 4; check++) {
      engine.targets.clear();
      loop.takeOnly().action().run();
      while (!engine.targets.contains("/version") && !engine.asked.isEmpty()) {
        engine.answersNext();
      }
    }
    while (!engine.asked.isEmpty()) {
      engine.refuses();
    }
    assertThat(worker.healthy()).isTrue();
    assertThat(worker.facts().version()).isEqualTo("1");
    assertThat(engine.targets).contains("/version");
    assertThat(loop.takeOnly().delayMs()).isEqualTo(INTERVAL_MS);
  }

  @Test
  void workersThatComeTogetherAreAskedOneAfterTheOther() {
    start(List.of());
    Engine engine = new Engine();
    for (int id = 0; id < 3; id++) {
      checks.add(worker(id, engine), () -> {});
    }
    for (int asked = 1; asked <= 3; asked++) {
      assertThat(engine.asked).hasSize(asked);
      loop.run(1);
    }
    checks.add(worker(3, engine), () -> {});
    assertThat(engine.asked).as("nothing is waited for").hasSize(4);
  }
}
