package io.kvasir.cli.serve;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kvasir.cli.KvasirJvm;
import io.kvasir.testing.harness.Await;
import io.kvasir.testing.harness.ChildProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A server in a process of its own, which prints its URLs when it listens. Thread-safe. */
final class ServingProcess implements AutoCloseable {

  static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private static final Pattern URL = Pattern.compile("https?://(?:127|198)(?:\\.\\d+){3}:\\d+");

  private final ChildProcess process;
  private final List<String> urls;

  private ServingProcess(String name, ProcessBuilder builder, int urls, String readyPath)
      throws IOException {
    this.process = ChildProcess.start(name, builder.redirectErrorStream(true));
    try {
      this.urls = awaitUrls(urls);
      if (adminUrl().startsWith("http:")) {
        await("ready", () -> get(adminUrl() + readyPath).statusCode() == 200);
      }
    } catch (RuntimeException | Error e) {
      process.close();
      throw e;
    }
  }

  /** Starts {@code kvasir engine} on a free port. */
  static ServingProcess engine(String... options) throws IOException {
    return engine(0, options);
  }

  /** Starts {@code kvasir engine} on a port; 0 takes a free one. */
  static ServingProcess engine(int port, String... options) throws IOException {
    return engine(List.of(), port, options);
  }

  /**
   * Starts {@code kvasir engine} by way of another command, which runs the words behind its own.
   */
  static ServingProcess engine(List<String> prefix, int port, String... options)
      throws IOException {
    return kvasir(prefix, "engine", 1, "/health", options, "--port", "" + port, "--device", "cpu");
  }

  /** Starts {@code kvasir serve} over embedded ranks. */
  static ServingProcess embedded(String... options) throws IOException {
    return serve(options, "--device", "cpu");
  }

  /** Starts {@code kvasir serve} in front of servers. */
  static ServingProcess gateway(List<String> workers, String... options) throws IOException {
    List<String> more = new ArrayList<>();
    workers.forEach(worker -> more.addAll(List.of("--worker", worker)));
    return serve(options, more.toArray(String[]::new));
  }

  /** Runs {@code kvasir serve} over embedded ranks with options that it refuses. */
  static ChildProcess refused(String... options) throws IOException {
    List<String> words = KvasirJvm.command(List.of(), "serve");
    words.addAll(List.of("--device", "cpu", "--port", "0", "--admin-port", "0"));
    words.addAll(List.of(options));
    return ChildProcess.run("serve", new ProcessBuilder(words).redirectErrorStream(true));
  }

  /** Starts {@code kvasir serve} of a package. */
  static ServingProcess packaged(ProcessBuilder builder) throws IOException {
    return new ServingProcess("serve", builder, 2, "/ready");
  }

  private static ServingProcess serve(String[] options, String... more) throws IOException {
    List<String> all = new ArrayList<>(List.of(more));
    all.addAll(List.of("--port", "0", "--admin-port", "0"));
    if (!List.of(options).contains("--access-log")) {
      all.addAll(List.of("--access-log", "none"));
    }
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
      throws IOException {
    List<String> words = new ArrayList<>(prefix);
    words.addAll(KvasirJvm.command(List.of("-XX:+UseSerialGC", "-Xmx512m"), command));
    words.addAll(List.of(options));
    words.addAll(List.of(more));
    return new ServingProcess(command, new ProcessBuilder(words), urls, readyPath);
  }

  /** Starts another server that prints its URL and answers {@code GET /health}. */
  static ServingProcess of(String name, ProcessBuilder builder) throws IOException {
    return new ServingProcess(name, builder, 1, "/health");
  }

  private List<String> awaitUrls(int count) {
    List<String> found = new ArrayList<>();
    await(
        "listening",
        () -> {
          found.clear();
          Matcher matcher = URL.matcher(output());
          while (found.size() < count && matcher.find()) {
            found.add(matcher.group());
          }
          return found.size() == count;
        });
    return List.copyOf(found);
  }

  /**
   * Waits for a state; fails as soon as the process has ended without it. A server that does not
   * answer yet is not in the state.
   */
  void await(String what, Await.Condition state) {
    process.await(
        what,
        () -> {
          try {
            return state.met();
          } catch (IOException e) {
            return false;
          }
        });
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
    HttpRequest request = HttpRequest.newBuilder(URI.create(url)).timeout(Await.limit()).build();
    return HTTP.send(request, HttpResponse.BodyHandlers.ofString());
  }

  static HttpResponse<String> post(String url, String body, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url))
            .timeout(Await.limit())
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
        .timeout(Await.limit())
        .header("content-type", "application/json")
        .header("x-kvasir-explain", "true")
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build();
  }

  /** Sends SIGTERM. */
  void terminate() {
    process.terminate();
  }

  /** A process that is started with SIGHUP ignored, as by {@code nohup}, never receives it. */
  static void requireHangUps() throws IOException {
    String ignored =
        Files.readAllLines(Path.of("/proc/self/status")).stream()
            .filter(line -> line.startsWith("SigIgn:"))
            .findFirst()
            .orElse("SigIgn: 0")
            .substring("SigIgn:".length())
            .strip();
    assumeTrue((Long.parseUnsignedLong(ignored, 16) & 1) == 0, "SIGHUP is ignored here");
  }

  /** Sends SIGHUP. */
  void hangUp() throws IOException {
    process.signal("HUP");
  }

  /** Sends SIGKILL. */
  void kill() {
    process.kill();
  }

  long pid() {
    return process.pid();
  }

  /** The exit code, once the process has ended. */
  int exitCode() {
    return process.exitCode();
  }

  /** What the process printed so far. */
  String output() {
    return process.output();
  }

  @Override
  public String toString() {
    return process.toString();
  }

  @Override
  public void close() {
    process.close();
  }
}
