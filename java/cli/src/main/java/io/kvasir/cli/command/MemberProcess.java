package io.kvasir.cli.command;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.kvasir.model.Threads;
import io.kvasir.tcp.GroupSecret;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A process that this one has started as a member of a replay. It gets the group's secret through
 * its standard input, so that no command line, environment or file has it. Its standard error is
 * passed on.
 *
 * <p>Thread-safe.
 */
final class MemberProcess {

  private static final int SECRET_CHARACTERS = 64;
  private static final int MAX_LINE_CHARACTERS = 1_000;
  private static final long LAST_LINES_MS = 500;

  private final Process process;
  private final Thread errors;
  private volatile String lastError = "";

  private MemberProcess(Process process, PrintStream to) {
    this.process = process;
    this.errors = new Thread(() -> passOn(to), "stderr of process " + process.pid());
    errors.setDaemon(true);
    errors.start();
  }

  /** Starts a process. */
  static MemberProcess start(List<String> command, GroupSecret secret, PrintStream errors)
      throws IOException {
    Process process =
        new ProcessBuilder(command).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    MemberProcess member = new MemberProcess(process, errors);
    try (OutputStream pipe = process.getOutputStream()) {
      pipe.write(secret.hex().getBytes(UTF_8));
    } catch (IOException ignored) {
      // It has ended already, which end() reports.
    }
    return member;
  }

  /** Reads the secret in the process that was started. */
  static GroupSecret readSecret(InputStream in) throws IOException {
    try {
      return GroupSecret.parse(new String(in.readNBytes(SECRET_CHARACTERS), UTF_8));
    } catch (IllegalArgumentException e) {
      throw new IOException("standard input: " + e.getMessage(), e);
    }
  }

  private void passOn(PrintStream to) {
    try (BufferedReader lines = process.errorReader()) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        to.println(line);
        if (!line.isBlank()) {
          lastError = line.substring(0, Math.min(line.length(), MAX_LINE_CHARACTERS)).strip();
        }
      }
    } catch (IOException ignored) {
      // The process has ended.
    }
  }

  /** How the process ended; null if it has not. */
  @Nullable String end() {
    if (process.isAlive()) {
      return null;
    }
    awaitLastError();
    String code = "exit code " + process.exitValue();
    return lastError.isEmpty() ? code : code + ", after the error: " + lastError;
  }

  private void awaitLastError() {
    boolean unused = Threads.join(errors, LAST_LINES_MS);
  }

  /** Waits for the process to end, and ends it if it does not in time. */
  void close(long timeoutMs) {
    try {
      if (!process.waitFor(timeoutMs, TimeUnit.MILLISECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
    awaitLastError();
  }
}
