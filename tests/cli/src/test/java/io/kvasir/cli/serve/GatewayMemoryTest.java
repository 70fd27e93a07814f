package io.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.benchmarks.proxy.GrowthFigures;
import io.kvasir.benchmarks.proxy.IdleMemory;
import io.kvasir.benchmarks.proxy.ProxyBench;
import io.kvasir.benchmarks.proxy.ProxyBenchSettings;
import io.kvasir.benchmarks.proxy.ProxyBenchText;
import io.kvasir.cli.Main;
import io.kvasir.testing.harness.Jdk;
import io.kvasir.testing.harness.LongRuns;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The gateway's memory with many open streams, and during many requests, which all get the right
 * answer. Heap is touched at the start, so that resident memory grows only if something outside of
 * the heap does.
 */
@Tag("process")
class GatewayMemoryTest {

  private static final int REQUESTS = LongRuns.cases(20_000, 1_000_000);
  private static final int STREAMS = 2_000;

  @Test
  void streamsAreCheapAndRequestsLeaveNothing() throws IOException {
    Path root = Path.of(System.getProperty("kvasir.root", "../..")).toAbsolutePath().normalize();
    ProxyBenchSettings settings = new ProxyBenchSettings(root, 0, 1, 1, 50, STREAMS, REQUESTS);
    Consumer<String> notes = System.out::println;
    try (ProxyBench bench = new ProxyBench(settings, GatewayMemoryTest::gateway, null, notes)) {
      IdleMemory idle = bench.idleMemory();
      String figures = ProxyBenchText.idle(idle);
      assertThat(idle.isKept()).as(figures).isTrue();
      GrowthFigures growth = bench.growth();
      figures += ProxyBenchText.growth(growth);
      assertThat(growth.isFlat()).as(figures).isTrue();
      System.out.println(figures);
    }
  }

  private static List<String> gateway(int port, int adminPort, int enginePort) {
    List<String> command = new ArrayList<>();
    command.add(Jdk.tool("java"));
    command.addAll(List.of("-Xms256m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:+AlwaysPreTouch"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
    command.addAll(List.of("serve", "--port", Integer.toString(port)));
    command.addAll(List.of("--admin-port", Integer.toString(adminPort)));
    command.addAll(List.of("--worker", "http://127.0.0.1:" + enginePort));
    return command;
  }
}
