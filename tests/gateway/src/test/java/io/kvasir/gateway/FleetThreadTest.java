package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.worker.WorkerSpec;
import io.kvasir.testing.harness.Await;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Routers forget workers on no event loop, because it takes milliseconds. */
class FleetThreadTest {

  private static final String KEY = "operators-only";
  private static final String OTHER = ",block_size=64";

  @BeforeEach
  @AfterEach
  void forget() {
    HookedPolicy.REMOVERS.clear();
  }

  private static void replace(TestGateway gateway, String... workers) {
    gateway
        .gateway()
        .replaceWorkers(
            Stream.of(workers).map(each -> WorkerSpec.parse("http://" + each)).toList(), List.of());
  }

  private static void awaitHealthy(TestGateway gateway, int... ids) {
    Await.until(
        "the workers",
        () -> {
          List<FleetWorker> workers = gateway.gateway().fleets().workers();
          return workers.stream().allMatch(FleetWorker::healthy)
              && workers.stream()
                  .mapToInt(FleetWorker::id)
                  .sorted()
                  .boxed()
                  .toList()
                  .equals(Arrays.stream(ids).boxed().toList());
        });
  }

  private static void assertNoLoopHasRemoved() {
    assertThat(HookedPolicy.REMOVERS).isNotEmpty().noneMatch(name -> name.contains("eventloop"));
  }

  @Test
  void aReloadChangesNoRouterOnAnEventLoop() {
    try (ScriptedEngine first = ScriptedEngine.good();
        ScriptedEngine second = ScriptedEngine.good();
        ScriptedEngine third = ScriptedEngine.good();
        TestGateway gateway = TestGateway.of(first, second).router(HookedPolicy.NAME).start()) {
      awaitHealthy(gateway, 0, 1);
      replace(gateway, first.name() + OTHER, third.name());
      awaitHealthy(gateway, 2, 3);
      replace(gateway, third.name());
      awaitHealthy(gateway, 2);
      assertNoLoopHasRemoved();
    }
  }

  @Test
  void neitherDoesAnOperator() {
    try (ScriptedEngine first = ScriptedEngine.good();
        ScriptedEngine second = ScriptedEngine.good();
        TestGateway gateway =
            TestGateway.of(first, second).router(HookedPolicy.NAME).adminKey(KEY).start()) {
      String changed = "{'worker':'http://" + first.name() + OTHER + "'}";
      assertThat(gateway.change("PUT", "/" + first.name(), changed, KEY).status()).isEqualTo(200);
      awaitHealthy(gateway, 1, 2);
      assertThat(gateway.change("DELETE", "/" + second.name(), "", KEY).status()).isEqualTo(200);
      awaitHealthy(gateway, 2);
      assertNoLoopHasRemoved();
    }
  }
}
