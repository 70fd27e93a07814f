package io.kvasir.cli.serve;

import io.kvasir.cli.Main;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A server in a process of its own, which prints its URLs when it listens. Thread-safe.
 *
 * <p>Every wait is bounded by {@link #PATIENCE}, which is far more than a slow machine needs.
 */
final class ServingProcess implements AutoCloseable {

  static final Duration PATIENCE = Duration.ofMinutes(2);

  static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private static final Pattern URL = Pattern.compile("http://(?:127|198)(?:\\.\\d+){3}:\\d+");
  private static final int POLL_MS = 20;

  private final String name;
  private final Process process;
  private final Thread reader;

  @SuppressWarnings("JdkObsolete") // two threads use it
  private final StringBuffer output = new StringBuffer();

  private final List<String> urls;

  private ServingProcess(String name, ProcessBuilder builder, int urls, String readyPath)
      throws IOException, InterruptedException {
    this.name = name;
    this.process = builder.redirectErrorStream(true).start();
    this.reader = new Thread(() -> read(process.getInputStream()), "output of " + name);
    reader.setDaemon(true);
    reader.start();
    try {
      this.urls = awaitUrls(urls);
      await("ready", () -> get(url() + readyPath).statusCode() == 200);
    } catch (InterruptedException | RuntimeException | Error e) {
      process.destroyForcibly();
      throw e;
    }
  }

  /** Starts {@code kvasir engine} on a free port. */
  static ServingProcess engine(String... options) throws IOException, InterruptedException {
    return engine(0, options);
  }

  /** Starts {@code kvasir engine} on a port; 0 takes a free one. */
  static ServingProcess engine(int port, String... options)
      throws IOException, InterruptedException {
    return engine(List.of(), port, options);
  }

  /**
   * Starts {@code kvasir engine} by way of another command, which runs the words behind its own.
   */
  static ServingProcess engine(List<String> prefix, int port, String... options)
      throws IOException, InterruptedException {
    return kvasir(prefix, "engine", 1, "/health", options, "--port", "" + port, "--device", "cpu");
  }

  /** Starts {@code kvasir serve} over embedded ranks. */
  static ServingProcess embedded(String... options) throws IOException, InterruptedException {
    return serve(options, "--device", "cpu");
  }

  /** Starts {@code kvasir serve} in front of servers. */
  static ServingProcess gateway(List<String> workers, String... options)
      throws IOException, InterruptedException {
    List<String> more = new ArrayList<>();
    workers.forEach(worker -> more.addAll(List.of("--worker", worker)));
    return serve(options, more.toArray(String[]::new));
  }

  private static ServingProcess serve(String[] options, String... more)
      throws IOException, InterruptedException {
    List<String> all = new ArrayList<>(List.of(more));
    all.addAll(List.of("--port", "0", "--admin-port", "0", "--access-log", "none"));
    all.addAll(List.of("--drain-grace-seconds", "0")); // no balancer asks
    return kvasir(List.of(), "serve", 2, "/ready", options, all.toArray(String[]::new));
  }

  private static ServingProcess kvasir(
      List<String> prefix,
      String command,
      int urls,
      String readyPath,
      String[] options,
      String... more)
      throws IOException, InterruptedException {
    List<String> words = new ArrayList<>(prefix);
    words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    words.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx512m"));
    words.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
    words.add(command);
    words.addAll(List.of(options));
    words.addAll(List.of(more));
    return new ServingProcess(command, new ProcessBuilder(words), urls, readyPath);
  }

  /** Starts another server that prints its URL and answers {@code GET /health}. */
  static ServingProcess of(String name, ProcessBuilder builder)
      throws IOException, InterruptedException {
    return new ServingProcess(name, builder, 1, "/health");
  }

  private void read(InputStream from) {
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(from, StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        output.append(line).append('\n');
      }
    } catch (IOException e) {
      output.append("(the output was closed)\n");
    }
  }

  private List<String> awaitUrls(int count) throws InterruptedException {
    List<String> found = new ArrayList<>();
    await(
        "listening",
        () -> {
          found.clear();
          Matcher matcher = URL.matcher(output);
          while (found.size() < count && matcher.find()) {
            found.add(matcher.group());
          }
          return found.size() == count;
        });
    return List.copyOf(found);
  }

  /** A condition that may not be met yet. */
  @FunctionalInterface
  interface Condition {
    boolean met() throws IOException, InterruptedException;
  }

  /** Waits for a condition; fails with the output if it is not met in time. */
  void await(String what, Condition condition) throws InterruptedException {
    long endNs = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      try {
        if (condition.met()) {
          return;
        }
      } catch (IOException e) {
        output.append("(").append(e).append(")\n");
      }
      if (!process.isAlive() || System.nanoTime() - endNs > 0) {
        throw new AssertionError(this + " is not " + what);
      }
      Thread.sleep(POLL_MS);
    }
  }

  /** The URL without a path. */
  String url() {
    return urls.get(0);
  }

  /** The URL of a gateway's admin port, without a path. */
  String adminUrl() {
    return urls.get(urls.size() - 1);
  }

  /** The page of metrics. */
  String metricsUrl() {
    return adminUrl() + "/metrics";
  }

  /** The sum of a metric over its labels. */
  double metric(String metric) throws IOException, InterruptedException {
    double sum = 0;
    for (String line : get(metricsUrl()).body().lines().toList()) {
      if (line.matches(Pattern.quote(metric) + "(\\{.*})? .*")) {
        sum += Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
      }
    }
    return sum;
  }

  static HttpResponse<String> get(String url) throws IOException, InterruptedException {
    HttpRequest request = HttpRequest.newBuilder(URI.create(url)).timeout(PATIENCE).build();
    return HTTP.send(request, HttpResponse.BodyHandlers.ofString());
  }

  static HttpResponse<String> post(String url, String body, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url))
            .timeout(PATIENCE)
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  /** A request for a chat; single quotes stand for double ones. */
  HttpRequest chat(String more) {
    String body =
        ("{'model':'kvasir','messages':[{'role':'user','content':'Hello'}]" + more + "}")
            .replace('\'', '"');
    return HttpRequest.newBuilder(URI.create(url() + "/v1/chat/completions"))
        .timeout(PATIENCE)
        .header("content-type", "application/json")
        .header("x-kvasir-explain", "true")
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build();
  }

  /** Sends SIGTERM. */
  void terminate() {
    process.toHandle().destroy(); // the method of the process would also close its output
  }

  /** Sends SIGKILL. */
  void kill() {
    process.destroyForcibly();
  }

  /** The exit code, once the process has ended. */
  int exitCode() throws InterruptedException {
    if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
      throw new AssertionError(this + " does not end");
    }
    reader.join(PATIENCE.toMillis());
    return process.exitValue();
  }

  /** What the process printed so far. */
  String output() {
    return output.toString();
  }

  @Override
  public String toString() {
    return name + " (" + (process.isAlive() ? "running" : "ended") + "):\n" + output;
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
