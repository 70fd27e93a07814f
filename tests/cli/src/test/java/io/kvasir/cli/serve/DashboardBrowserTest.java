package io.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The dashboard in Chromium, over two engines under load, one of which is killed. The pictures in
 * docs/images are made here, in target/clients.
 */
@Tag("process")
class DashboardBrowserTest {

  private static final Path SCRIPT =
      Path.of(System.getProperty("kvasir.root", "../.."), "tests/gateway/dashboard");

  private static final int CLIENTS = 4;
  private static final int TEXTS = 12;

  @Test
  void thePageShowsWhatHappensToEveryone() throws Exception {
    Path chromium = Tools.chromium();
    Path folder = Tools.nodeFolder(SCRIPT, DashboardBrowserTest.class);
    AtomicBoolean over = new AtomicBoolean();
    try (FleetEngine first = engine();
        FleetEngine second = engine();
        ServingProcess gateway =
            ServingProcess.gateway(
                List.of(first.worker(), second.worker()),
                "--fleet-router=projected",
                "--shadow=cost",
                "--health-interval-seconds=1",
                "--health-failures=1",
                "--warm-up-seconds=0")) {
      List<Thread> load = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        Random random = new Random(39 + i);
        load.add(new Thread(() -> load(gateway.url() + "/v1/chat/completions", random, over)));
      }
      load.forEach(Thread::start);
      Tools.Result result =
          Tools.run(
              folder,
              Map.of(
                  "KVASIR_DASHBOARD",
                  gateway.adminUrl() + "/kvasir/dashboard",
                  "KVASIR_CHROMIUM",
                  chromium.toString(),
                  "KVASIR_WORKER",
                  second.name(),
                  "KVASIR_WORKER_PID",
                  Long.toString(second.pid()),
                  "KVASIR_SCREENSHOTS",
                  folder.toAbsolutePath().toString()),
              "node",
              "--test",
              "--test-reporter=tap",
              "dashboard_test.mjs");
      over.set(true);
      for (Thread thread : load) {
        thread.join();
      }
      System.out.println(result.output());
      assertThat(result.exitCode()).as(() -> result.output() + "\n" + gateway).isZero();
      assertThat(result.output()).contains("# pass 9");
    }
  }

  private static FleetEngine engine() throws IOException {
    return FleetEngine.withPool("kvasir", "vllm", 400, "--events", "map");
  }

  /** Questions behind one of some texts, with short pauses. */
  private static void load(String url, Random random, AtomicBoolean over) {
    try {
      while (!over.get()) {
        String words = "text %d ".formatted(random.nextInt(TEXTS)).repeat(100) + random.nextInt();
        ServingProcess.post(
            url,
            "{'model':'kvasir','stream':true,'max_tokens':40,'messages':[{'role':'user','content':'"
                    .replace('\'', '"')
                + words
                + "\"}]}");
        Thread.sleep(random.nextInt(100));
      }
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
