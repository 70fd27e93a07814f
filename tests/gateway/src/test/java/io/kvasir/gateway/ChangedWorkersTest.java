package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.worker.WorkerSpec;
import io.kvasir.testing.harness.Await;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Workers whose descriptions change while the gateway serves. */
class ChangedWorkersTest {

  private static final String KEY = "operators-only";
  private static final String OTHER = ",block_size=64";

  private static Reply put(TestGateway gateway, ScriptedEngine engine, String keys) {
    String body = "{'worker':'http://" + engine.name() + keys + "'}";
    return gateway.change("PUT", "/" + engine.name(), body, KEY);
  }

  private static String state(TestGateway gateway, ScriptedEngine engine) {
    return gateway.admin("/kvasir/workers/" + engine.name()).json().path("state").asText();
  }

  private static List<FleetWorker> workers(TestGateway gateway) {
    return gateway.gateway().fleets().workers();
  }

  private static int blockSize(TestGateway gateway) {
    return workers(gateway).get(0).spec().blockSize();
  }

  private static String replace(TestGateway gateway, String... workers) {
    return gateway
        .gateway()
        .replaceWorkers(Stream.of(workers).map(WorkerSpec::parse).toList(), List.of());
  }

  @Test
  void aWorkerWithOtherKeysStartsAnew() {
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).adminKey(KEY).start()) {
      assertThat(put(gateway, engine, "").status()).isEqualTo(200);
      assertThat(workers(gateway).get(0).id()).isZero();
      assertThat(put(gateway, engine, OTHER).status()).isEqualTo(200);
      Await.until("another worker", () -> workers(gateway).get(0).id() == 1);
      assertThat(gateway.gateway().fleets().fleet("m").tokensPerBlock())
          .as("the fleet has the block size of its only worker")
          .isEqualTo(64);
      gateway.works();
    }
  }

  @Test
  void aCordonedOneStaysSo() {
    try (ScriptedEngine first = ScriptedEngine.good();
        ScriptedEngine second = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(first, second).adminKey(KEY).start()) {
      gateway.change("PATCH", "/" + second.name(), "{'cordoned':true}", KEY);
      assertThat(put(gateway, second, OTHER).json().path("state").asText()).isEqualTo("cordoned");
      assertThat(replace(gateway, "http://" + first.name(), "http://" + second.name()))
          .isEqualTo("1 workers come, 1 go, 1 stay");
      Await.until(
          "a healthy worker", () -> workers(gateway).stream().allMatch(FleetWorker::healthy));
      assertThat(state(gateway, second)).isEqualTo("cordoned");
    }
  }

  @Test
  void theOneBeforeServesUntilTheNextHasAnswered() {
    CountDownLatch answers = new CountDownLatch(1);
    try (ScriptedEngine first = ScriptedEngine.good();
        ScriptedEngine second = ScriptedEngine.good();
        TestGateway gateway =
            TestGateway.of(first, second).adminKey(KEY).drainMs(Await.limitMs()).start()) {
      first.healthAfter(answers);
      second.healthAfter(answers);
      assertThat(replace(gateway, "http://" + first.name() + OTHER, "http://" + second.name()))
          .isEqualTo("1 workers come, 1 go, 1 stay");
      assertThat(put(gateway, second, OTHER).json().path("state").asText()).isEqualTo("coming");
      gateway.works();
      gateway.works();
      assertThat(workers(gateway)).allMatch(worker -> worker.spec().blockSize() == 0);
      answers.countDown();
      Await.until(
          "both have changed",
          () -> workers(gateway).stream().allMatch(worker -> worker.spec().blockSize() == 64));
      assertThat(state(gateway, first)).isEqualTo("serving");
      gateway.works();
      assertThat(gateway.metrics())
          .containsOnlyOnce("kvasir_worker_healthy{role=\"both\",worker_id=\"" + first.name());
    }
  }

  @Test
  void aNextOneThatNeverAnswersIsAwaitedNoLongerThanADrain() {
    CountDownLatch never = new CountDownLatch(1);
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).adminKey(KEY).drainMs(300).start()) {
      engine.healthAfter(never);
      put(gateway, engine, OTHER);
      gateway.works();
      Await.until("the change", () -> blockSize(gateway) == 64);
      assertThat(workers(gateway).get(0).healthy()).isFalse();
      never.countDown();
    }
  }

  @Test
  void aChangeCanBeTakenBackOrMadeAtOnce() {
    CountDownLatch never = new CountDownLatch(1);
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway =
            TestGateway.of(engine).adminKey(KEY).drainMs(Await.limitMs()).start()) {
      engine.healthAfter(never);
      put(gateway, engine, OTHER);
      assertThat(state(gateway, engine)).isEqualTo("coming");
      put(gateway, engine, "");
      assertThat(state(gateway, engine)).isEqualTo("serving");
      gateway.works();
      put(gateway, engine, OTHER);
      put(gateway, engine, ",block_size=128");
      gateway.change("PATCH", "/" + engine.name(), "{'weight':0.5}", KEY);
      gateway.change("PATCH", "/" + engine.name(), "{'cordoned':true}", KEY);
      assertThat(blockSize(gateway)).isEqualTo(128);
      assertThat(workers(gateway).get(0).membership().weight()).isEqualTo(0.5);
      assertThat(state(gateway, engine)).isEqualTo("cordoned");
      never.countDown();
    }
  }

  @Test
  void aWorkerThatIsRemovedWhileItChangesGoes() {
    CountDownLatch answers = new CountDownLatch(1);
    try (ScriptedEngine first = ScriptedEngine.good();
        ScriptedEngine second = ScriptedEngine.good();
        TestGateway gateway =
            TestGateway.of(first, second).adminKey(KEY).drainMs(Await.limitMs()).start()) {
      first.healthAfter(answers);
      second.healthAfter(answers);
      put(gateway, first, OTHER);
      put(gateway, second, OTHER);
      gateway.change("DELETE", "/" + second.name(), "", KEY);
      answers.countDown();
      Await.until("the other change", () -> blockSize(gateway) == 64);
      Await.until("nothing goes", () -> gateway.admin("/kvasir/workers").json().size() == 1);
      assertThat(workers(gateway)).hasSize(1);
    }
  }

  @Test
  void noChangeOfTheOnlyWorkerLosesARequest() {
    AtomicBoolean over = new AtomicBoolean();
    try (ScriptedEngine engine = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(engine).adminKey(KEY).start()) {
      Runnable client =
          () -> {
            while (!over.get()) {
              gateway.works();
            }
          };
      List<CompletableFuture<Void>> clients =
          Stream.generate(
                  () -> CompletableFuture.runAsync(client, task -> new Thread(task).start()))
              .limit(4)
              .toList();
      for (int i = 1; i <= 20; i++) {
        int size = i % 2 == 0 ? 16 : 64;
        put(gateway, engine, ",block_size=" + size);
        Await.until("the change", () -> blockSize(gateway) == size);
      }
      over.set(true);
      clients.forEach(each -> Await.result("the requests", each));
    }
  }
}
