package io.kvasir.testing.harness;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * A process that a test runs. Its output is kept; when the test fails, it is printed with the
 * failure. Closing ends it with all its descendants.
 *
 * <p>Thread-safe.
 */
public final class ChildProcess implements AutoCloseable {

  /** Those of the test that runs. */
  private static final List<ChildProcess> STARTED = new ArrayList<>();

  private final String name;
  private final Process process;
  private final Output output;
  private final Output errors;

  private ChildProcess(String name, Process process, boolean errorsApart) {
    this.name = name;
    this.process = process;
    this.output = new Output("output of " + name, process.getInputStream());
    this.errors = errorsApart ? new Output("errors of " + name, process.getErrorStream()) : output;
  }

  /**
   * Starts a process.
   *
   * @param name what it is, for messages
   * @param builder starts it; what it does not redirect is read here
   * @return the process
   * @throws IOException if it cannot be started
   */
  public static ChildProcess start(String name, ProcessBuilder builder) throws IOException {
    ChildProcess started = new ChildProcess(name, builder.start(), !builder.redirectErrorStream());
    synchronized (STARTED) {
      STARTED.add(started);
    }
    return started;
  }

  /**
   * Runs a process without input to its end.
   *
   * @param name what it is, for messages
   * @param builder starts it
   * @return the process, which has ended
   * @throws IOException if it cannot be started
   */
  public static ChildProcess run(String name, ProcessBuilder builder) throws IOException {
    try (ChildProcess process = start(name, builder)) {
      process.input().close();
      process.exitCode();
      return process;
    }
  }

  /** {@return the process itself} */
  public Process process() {
    return process;
  }

  /** {@return its process id} */
  public long pid() {
    return process.pid();
  }

  /** {@return the pipe to its standard input} */
  public OutputStream input() {
    return process.getOutputStream();
  }

  /** {@return what it has written to its standard output so far} */
  public String output() {
    return output.toString();
  }

  /** {@return the next line of its standard output, which it may have to write first} */
  public String nextLine() {
    return Await.next("a line of " + name, output.untaken).orElseThrow(this::ended);
  }

  /** {@return what it has written to its standard error so far, if that is not its output} */
  public String errors() {
    return errors.toString();
  }

  /**
   * Waits for a state of the process; fails as soon as it has ended without it.
   *
   * @param what the state in words
   * @param state looks whether it is there
   */
  public void await(String what, Await.Condition state) {
    Await.until(
        name + " " + what,
        () -> {
          boolean alive = process.isAlive();
          boolean met = state.met();
          if (!alive && !met) {
            throw new IllegalStateException(this + " is not " + what);
          }
          return met;
        });
  }

  private AssertionError ended() {
    return new AssertionError("has written no other line: " + this);
  }

  /**
   * Waits for the end of the process. How long a whole program takes is its own matter: a hang ends
   * with the time limit of the test.
   *
   * @return its exit code, when all that it wrote has been read
   */
  public int exitCode() {
    try {
      process.waitFor();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while waiting for the end: " + this, e);
    }
    output.awaitEnd();
    errors.awaitEnd();
    return process.exitValue();
  }

  /**
   * Sends a signal.
   *
   * @param signal its name, such as STOP
   * @throws IOException if it cannot be sent
   */
  public void signal(String signal) throws IOException {
    signal(signal, pid());
  }

  /**
   * Sends a signal to a process that another one has started.
   *
   * @param signal its name, such as STOP
   * @param pid the process
   * @throws IOException if it cannot be sent
   */
  public static void signal(String signal, long pid) throws IOException {
    ChildProcess kill = run("kill", new ProcessBuilder("kill", "-" + signal, "" + pid));
    if (kill.exitCode() != 0) {
      throw new IOException(kill.toString());
    }
  }

  /** Sends SIGTERM. */
  public void terminate() {
    process.toHandle().destroy(); // the method of the process would also close its output
  }

  /** Sends SIGKILL to it and to its descendants. */
  public void kill() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }

  @Override
  public void close() {
    kill();
  }

  @Override
  public String toString() {
    String state = process.isAlive() ? "running" : "ended with " + process.exitValue();
    String more = errors == output || errors.isEmpty() ? "" : "\n-- errors:\n" + errors;
    return name + " (" + process.pid() + ", " + state + "):\n" + output + more;
  }

  /** Forgets the processes of earlier tests that are closed. */
  static void beginTest() {
    synchronized (STARTED) {
      STARTED.removeIf(each -> !each.process.isAlive());
    }
  }

  /** {@return the processes that run, and those that the test has ended} */
  static List<ChildProcess> ofTest() {
    synchronized (STARTED) {
      return List.copyOf(STARTED);
    }
  }

  /** What comes out of a pipe. */
  private static final class Output {

    private final StringBuilder text = new StringBuilder();

    /** Lines that {@link #nextLine} has not returned yet, and then the end of the output. */
    private final BlockingQueue<Optional<String>> untaken = new LinkedBlockingQueue<>();

    private final Thread reader;

    Output(String name, InputStream from) {
      this.reader = new Thread(() -> read(from), name);
      reader.setDaemon(true);
      reader.start();
    }

    private void read(InputStream from) {
      try (BufferedReader lines =
          new BufferedReader(new InputStreamReader(from, StandardCharsets.UTF_8))) {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          append(line);
          untaken.add(Optional.of(line));
        }
      } catch (IOException e) {
        append("(closed)");
      }
      untaken.add(Optional.empty());
    }

    private synchronized void append(String line) {
      text.append(line).append('\n');
    }

    synchronized boolean isEmpty() {
      return text.isEmpty();
    }

    void awaitEnd() {
      Await.end(reader);
    }

    @Override
    public synchronized String toString() {
      return text.toString();
    }
  }
}
