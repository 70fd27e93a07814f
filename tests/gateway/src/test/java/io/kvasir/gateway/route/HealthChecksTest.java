package io.kvasir.gateway.route;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.exchange.ReplyListener;
import io.kvasir.exchange.Upstream;
import io.kvasir.exchange.UpstreamCall;
import io.kvasir.exchange.UpstreamFailure;
import io.kvasir.exchange.UpstreamRequest;
import io.kvasir.gateway.worker.WorkerSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;

/** When the first round of health checks is over. */
class HealthChecksTest {

  private static final BreakerSettings BREAKER = BreakerSettings.of(1, 1);

  private int rounds;

  /** Answers when the test says so. */
  private static final class Engine implements Upstream {

    private final List<ReplyListener> asked = new ArrayList<>();

    @Override
    public UpstreamCall send(UpstreamRequest request, ReplyListener reply, Executor loop) {
      asked.add(reply);
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
            (model, worker) -> {
              throw new AssertionError(model);
            });
    new HealthChecks(fleets, new PlannedActions(), 5_000, 5_000, 1).start(() -> rounds++);
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
}
