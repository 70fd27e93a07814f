package io.kvasir.benchmarks.proxy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A server that this process has started. It ends when it is closed, and whenever this process
 * ends: a shell between the two waits for the end of its standard input and then ends the server.
 *
 * <p>Confined to one thread.
 */
final class ServerProcess implements AutoCloseable {

  private static final String SHELL =
      """
      trap '' INT HUP
      ulimit -n "$(ulimit -H -n)" || :
      log=$1
      shift
      "$@" >"$log" 2>&1 </dev/null &
      echo $!
      cat >/dev/null
      kill $! 2>/dev/null
      wait $!
      """;

  private static final long ENDING_MS = 10_000;
  private static final int SHOWN_LOG_CHARACTERS = 400;
  private static final long KIB = 1024;

  private final String name;
  private final int port;
  private final Path log;
  private final Process shell;
  private final ProcessHandle server;

  private ServerProcess(String name, int port, Path log, Process shell, ProcessHandle server) {
    this.name = name;
    this.port = port;
    this.log = log;
    this.shell = shell;
    this.server = server;
  }

  /**
   * Starts a server.
   *
   * @param name for messages
   * @param port the port of 127.0.0.1 that the command makes it listen on
   * @param command program and arguments
   * @param log the file that receives its output
   */
  static ServerProcess start(String name, int port, List<String> command, Path log)
      throws IOException {
    List<String> all = new ArrayList<>(List.of("sh", "-c", SHELL, "sh", log.toString()));
    all.addAll(command);
    Process shell = new ProcessBuilder(all).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    String pid = shell.inputReader(StandardCharsets.US_ASCII).readLine();
    ProcessHandle server =
        pid == null ? null : ProcessHandle.of(Long.parseLong(pid.strip())).orElse(null);
    if (server == null) {
      shell.destroyForcibly();
      throw new IOException(name + " did not start" + lastLines(log));
    }
    return new ServerProcess(name, port, log, shell, server);
  }

  String name() {
    return name;
  }

  int port() {
    return port;
  }

  long pid() {
    return server.pid();
  }

  /** An exception if the server has ended. */
  void check() throws IOException {
    // Until the shell ends, a server that has ended is a process without a command.
    if (!server.isAlive() || server.info().command().isEmpty()) {
      throw new IOException(name + " has ended" + lastLines(log));
    }
  }

  /** The CPU time of the server and its child processes so far, in steps of 10 ms. */
  long cpuNs() {
    return Stream.concat(Stream.of(server), server.descendants())
        .mapToLong(process -> process.info().totalCpuDuration().orElse(Duration.ZERO).toNanos())
        .sum();
  }

  /** The memory of the server that is in RAM, in bytes. */
  long residentBytes() throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc", Long.toString(pid()), "status"))) {
      return lines
          .filter(line -> line.startsWith("VmRSS:"))
          .mapToLong(line -> KIB * Long.parseLong(line.replaceAll("\\D", "")))
          .findFirst()
          .orElseThrow(() -> new IOException(name + " has no resident memory"));
    }
  }

  /** The end of the output, as the end of a message. */
  private static String lastLines(Path log) {
    try {
      String text = Files.readString(log).strip().replaceAll("\\s*\\R\\s*", " | ");
      int from = Math.max(0, text.length() - SHOWN_LOG_CHARACTERS);
      return text.isEmpty() ? "" : ": " + text.substring(from);
    } catch (IOException e) {
      return "";
    }
  }

  /** {@return what the server wrote last, as the end of a message} */
  String lastLines() {
    return lastLines(log);
  }

  /** Ends the server; kills it if it does not end within ten seconds. */
  @Override
  public void close() {
    try {
      shell.getOutputStream().close();
    } catch (IOException ignored) {
      // The shell has ended already.
    }
    try {
      if (shell.waitFor(ENDING_MS, TimeUnit.MILLISECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    server.descendants().forEach(ProcessHandle::destroyForcibly);
    server.destroyForcibly();
    shell.destroyForcibly();
  }
}
