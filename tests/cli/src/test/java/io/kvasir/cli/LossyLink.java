package io.kvasir.cli;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kvasir.cli.serve.Tools;
import io.kvasir.testing.harness.Await;
import io.kvasir.testing.harness.ChildProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A network namespace behind a link that delays and loses packets: {@code network/lossy_link.py}.
 * Confined to one thread.
 */
final class LossyLink implements AutoCloseable {

  private static final int NAMESPACES = 60;

  private final ChildProcess process;
  private final String name;
  private final String outerAddress;

  private LossyLink(ChildProcess process, String name, String outerAddress) {
    this.process = process;
    this.name = name;
    this.outerAddress = outerAddress;
  }

  /** Makes a link; skips the test by name where this is not allowed. */
  static LossyLink create(int delayMs, int lossPercent, long seed) throws IOException {
    assumeTrue(Files.isWritable(Path.of("/dev/net/tun")), "/dev/net/tun cannot be opened");
    Tools.requirePython("fcntl");
    long number = ProcessHandle.current().pid() % NAMESPACES;
    String name = "kvl" + number;
    String outer = "198.19.255." + (4 * number + 1);
    String inner = "198.19.255." + (4 * number + 2);
    ChildProcess process =
        ChildProcess.start(
            "lossy_link.py",
            new ProcessBuilder(
                Tools.python(),
                "network/lossy_link.py",
                name,
                outer,
                inner,
                Integer.toString(delayMs),
                Integer.toString(lossPercent),
                Long.toString(seed)));
    Await.until(
        "a link, or none",
        () -> process.output().contains("ready\n") || !process.process().isAlive());
    assumeTrue(
        process.process().isAlive(), () -> "no network namespace: " + process.errors().strip());
    return new LossyLink(process, name, outer);
  }

  /** The words before a command that runs it behind the link. */
  List<String> prefix() {
    return List.of("ip", "netns", "exec", name);
  }

  /** The address of this side. */
  String outerAddress() {
    return outerAddress;
  }

  /** Loses all packets from now on. */
  void cut() throws IOException {
    command("cut\n");
  }

  /** Ends a cut. */
  void heal() throws IOException {
    command("heal\n");
  }

  private void command(String line) throws IOException {
    process.input().write(line.getBytes(StandardCharsets.US_ASCII));
    process.input().flush();
  }

  @Override
  public void close() throws IOException {
    process.input().close(); // it removes the namespace
    process.exitCode();
  }
}
