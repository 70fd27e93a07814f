package io.kvasir.cli;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A network namespace behind a link that delays and loses packets: {@code network/lossy_link.py}.
 * Confined to one thread.
 */
final class LossyLink implements AutoCloseable {

  private static final int NAMESPACES = 60;
  private static final long CLOSE_SECONDS = 10;

  private final Process process;
  private final Writer commands;
  private final String name;
  private final String outerAddress;

  private LossyLink(Process process, String name, String outerAddress) {
    this.process = process;
    this.commands = process.outputWriter();
    this.name = name;
    this.outerAddress = outerAddress;
  }

  /** Makes a link; skips the test by name where this is not allowed. */
  static LossyLink create(int delayMs, int lossPercent, long seed) throws IOException {
    assumeTrue(Files.isWritable(Path.of("/dev/net/tun")), "/dev/net/tun cannot be opened");
    long number = ProcessHandle.current().pid() % NAMESPACES;
    String name = "kvl" + number;
    String outer = "198.19.255." + (4 * number + 1);
    String inner = "198.19.255." + (4 * number + 2);
    ProcessBuilder builder =
        new ProcessBuilder(
            "python3",
            "network/lossy_link.py",
            name,
            outer,
            inner,
            Integer.toString(delayMs),
            Integer.toString(lossPercent),
            Long.toString(seed));
    Path errors = Files.createTempFile("lossy-link", ".err");
    Process process = builder.redirectError(errors.toFile()).start();
    BufferedReader output = process.inputReader();
    boolean ready = "ready".equals(output.readLine());
    if (!ready) {
      process.destroy();
    }
    assumeTrue(ready, () -> "no network namespace: " + read(errors));
    return new LossyLink(process, name, outer);
  }

  private static String read(Path file) {
    try {
      return Files.readString(file).strip();
    } catch (IOException e) {
      return e.getMessage();
    }
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
    commands.write(line);
    commands.flush();
  }

  @Override
  public void close() throws IOException {
    commands.close();
    try {
      if (!process.waitFor(CLOSE_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
