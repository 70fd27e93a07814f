package io.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.harness.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a gateway in a process of its own logs. */
@Tag("process")
class ServerLogsTest {

  private static final String TIME = "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}\\S+ ";

  private final List<AutoCloseable> open = new ArrayList<>();

  @TempDir private Path folder;

  @AfterEach
  void close() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
  }

  private ServingProcess with(ServingProcess process) {
    open.add(process);
    return process;
  }

  private static long lines(ServingProcess of, String regex) {
    return of.output().lines().filter(Pattern.compile(regex).asMatchPredicate()).count();
  }

  @Test
  void theRouterAndEachRecoveryOfAWorkerHaveALineWithItsTime() throws IOException {
    ServingProcess engine = with(ServingProcess.engine());
    int port = Integer.parseInt(engine.url().substring(engine.url().lastIndexOf(':') + 1));
    ServingProcess gateway =
        with(ServingProcess.gateway(List.of(engine.url()), "--health-interval-seconds", "1"));
    String healthy = TIME + "\\[INFO\\] HealthChecks - worker \\S+ is healthy: .*";
    assertThat(lines(gateway, healthy)).isEqualTo(1);
    assertThat(
            lines(
                gateway,
                TIME + "\\[INFO\\] FleetAssembly - model kvasir: fleet router affinity, .*"))
        .isEqualTo(1);
    engine.kill();
    String unhealthy = TIME + "\\[WARN\\] HealthChecks - worker \\S+ is unhealthy: .*";
    gateway.await("unhealthy", () -> lines(gateway, unhealthy) == 1);
    assertThat(engine.exitCode()).isNotZero();
    with(ServingProcess.engine(port));
    gateway.await("healthy again", () -> lines(gateway, healthy) == 2);
  }

  @Test
  void aHangUpOpensTheAccessLogAgain() throws Exception {
    ServingProcess.requireHangUps();
    Path log = folder.resolve("access.log");
    Path moved = folder.resolve("access.log.1");
    ServingProcess gateway = with(ServingProcess.embedded("--access-log", log.toString()));
    ServingProcess.post(gateway.url() + "/v1/completions", "{\"prompt\":\"a\",\"max_tokens\":1}");
    Await.until("a line", () -> Files.size(log) > 0);
    long before = Files.size(log);
    Files.move(log, moved);
    gateway.hangUp();
    Await.until("a new file", () -> Files.exists(log));
    ServingProcess.post(gateway.url() + "/v1/completions", "{\"prompt\":\"b\",\"max_tokens\":1}");
    Await.until("a line", () -> Files.size(log) > 0);
    assertThat(Files.size(moved)).isEqualTo(before);
    assertThat(gateway.output()).contains("SIGHUP: " + log + " is opened again");
    gateway.terminate();
    assertThat(gateway.exitCode()).isZero();
  }

  @Test
  void aHangUpEndsNoGatewayWithoutALogFile() throws Exception {
    ServingProcess.requireHangUps();
    ServingProcess gateway = with(ServingProcess.embedded());
    gateway.hangUp();
    gateway.await(
        "a note", () -> gateway.output().contains("kvasir: SIGHUP: the access log is no"));
    assertThat(ServingProcess.get(gateway.url() + "/health").statusCode()).isEqualTo(200);
  }
}
