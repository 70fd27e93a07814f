package io.kvasir.benchmarks.proxy;

import io.kvasir.testing.harness.ChildProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A stub engine that runs by itself. */
final class StubProcess implements AutoCloseable {

  private static final Pattern READY = Pattern.compile("ready (\\d+)\n");

  private final ChildProcess process;
  private final int port;

  private StubProcess(ChildProcess process, int port) {
    this.process = process;
    this.port = port;
  }

  static StubProcess start(Path program) throws IOException {
    ChildProcess process =
        ChildProcess.start("the stub engine", new ProcessBuilder(program.toString()));
    Matcher ready = READY.matcher("");
    process.await("ready", () -> ready.reset(process.output()).find());
    return new StubProcess(process, Integer.parseInt(ready.group(1)));
  }

  int port() {
    return port;
  }

  ChildProcess process() {
    return process;
  }

  LoadReport stats() throws IOException {
    return LoadReport.parse(get("/stub/stats"));
  }

  String get(String path) throws IOException {
    return send(request(path).build());
  }

  HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path));
  }

  String send(HttpRequest request) throws IOException {
    try {
      HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
      return client.send(request, HttpResponse.BodyHandlers.ofString()).body();
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  @Override
  public void close() {
    process.close();
  }
}
