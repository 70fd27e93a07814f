package io.kvasir.gateway.route;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.gateway.worker.WorkerFacts;
import io.kvasir.testing.harness.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** What becomes of a fleet whose engines change. */
class ModelFleetsTest {

  private static final String MODEL = "m";
  private static final BreakerSettings BREAKER = BreakerSettings.of(1, 1);

  private final List<FleetWorker> workers = TestWorkers.healthy(3, BREAKER);

  /** The number of KV blocks that each rank was added with. */
  private final List<Long> kvBlocks = new ArrayList<>();

  private int refused;

  /** What the routers do when they forget a rank. */
  private volatile Runnable onRemoval = () -> {};

  private final ModelFleets fleets =
      new ModelFleets(workers, new Ejection(BREAKER), (model, worker) -> fleet(worker));

  private ModelFleet fleet(FleetWorker worker) {
    int size = worker.profile().blockSize();
    if (size > 1_000) {
      refused++;
      throw new IllegalArgumentException("too large");
    }
    return new ModelFleet(TestWorkers.router(this::onCall), true, size, null, null);
  }

  private void onCall(String name, Object[] arguments) {
    if (name.equals("removeRank")) {
      onRemoval.run();
    }
    if (name.equals("addRank")) {
      kvBlocks.add(((RankCapacity) arguments[1]).totalKvBlocks());
    }
  }

  private void answer(int worker, int blockSize, long blocks) {
    WorkerFacts facts = new WorkerFacts("1", blockSize, blocks, 1, 0, null, false, null, Map.of());
    fleets.onAnswer(workers.get(worker), Set.of(MODEL), facts);
  }

  private int blockSize() {
    return fleets.fleet(MODEL).tokensPerBlock();
  }

  @Test
  void theBlockSizeIsThatOfMostWorkers() {
    for (int worker = 0; worker < 3; worker++) {
      answer(worker, 16, 100);
    }
    answer(0, 32, 100);
    assertThat(blockSize()).isEqualTo(16);
    answer(1, 32, 100);
    assertThat(blockSize()).isEqualTo(32);
    ModelFleet fleet = fleets.fleet(MODEL);
    assertThat(fleet.workers()).containsExactlyInAnyOrderElementsOf(workers);
    answer(2, 32, 100);
    assertThat(fleets.fleet(MODEL)).isSameAs(fleet);
  }

  @Test
  void anOnlyWorkerMayChangeItsBlockSize() {
    answer(0, 16, 100);
    answer(0, 32, 100);
    assertThat(blockSize()).isEqualTo(32);
    assertThat(fleets.fleet(MODEL).workers()).containsExactly(workers.get(0));
  }

  @Test
  void aSizeThatTheRouterRefusesIsTriedOnce() {
    answer(0, 16, 100);
    for (int blocks = 100; blocks < 110; blocks++) {
      answer(0, 2_000, blocks);
    }
    assertThat(blockSize()).isEqualTo(16);
    assertThat(refused).isEqualTo(1);
  }

  @Test
  void theRouterKnowsHowManyBlocksAnEngineHasNow() {
    answer(0, 16, 100);
    answer(0, 16, 50);
    assertThat(kvBlocks).containsExactly(100L, 50L);
  }

  @Test
  void aWorkerAnswersWhileTheRouterForgetsAnother() {
    answer(0, 16, 100);
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch answered = new CountDownLatch(1);
    onRemoval =
        () -> {
          begun.countDown();
          Await.opened("the answer", answered);
        };
    CompletableFuture<Void> removal =
        CompletableFuture.runAsync(() -> fleets.remove(workers.get(0)));
    Await.opened("the removal", begun);
    answer(1, 32, 100);
    assertThat(blockSize()).as("one that leaves decides nothing").isEqualTo(32);
    answered.countDown();
    removal.join();
    assertThat(fleets.fleet(MODEL).workers()).containsExactly(workers.get(1));
  }
}
