package io.kvasir.benchmarks.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** A stub engine that runs by itself. */
final class StubProcess implements AutoCloseable {

  private final Process process;
  private final int port;

  private StubProcess(Process process, int port) {
    this.process = process;
    this.port = port;
  }

  static StubProcess start(Path program) throws IOException {
    Process process = new ProcessBuilder(List.of(program.toString(), "--seconds", "60")).start();
    BufferedReader lines = process.inputReader(StandardCharsets.US_ASCII);
    String ready = lines.readLine();
    assertThat(ready).startsWith("ready ");
    return new StubProcess(process, Integer.parseInt(ready.substring("ready ".length())));
  }

  int port() {
    return port;
  }

  Process process() {
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
    process.destroyForcibly();
  }
}
