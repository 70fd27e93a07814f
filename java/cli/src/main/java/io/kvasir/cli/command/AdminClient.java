package io.kvasir.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.cli.option.UsageException;
import io.kvasir.cli.terminal.PlainText;
import io.kvasir.model.Errors;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Asks the admin port of a gateway for what it knows, and changes its workers. Thread-safe. */
final class AdminClient {

  /** The option that has its URL, and the default of that. */
  static final String URL_OPTION = "--admin-url";

  static final String DEFAULT_URL = "http://127.0.0.1:8081";

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String WORKERS = "/kvasir/workers";
  private static final int NOT_FOUND = 404;
  private static final int FIRST_ERROR = 400;

  private final HttpClient http;
  private final URI url;
  private final @Nullable String key;
  private final Duration timeout;

  /**
   * Creates a client.
   *
   * @param url the admin port, without a path
   * @param key the key for changes; null for none
   * @param timeout the longest wait for an answer
   * @param tls certificates for a URL with https; null for Java's
   */
  AdminClient(URI url, @Nullable String key, Duration timeout, @Nullable SSLContext tls) {
    this.url = url;
    this.key = key;
    this.timeout = timeout;
    HttpClient.Builder client =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(timeout);
    this.http = tls == null ? client.build() : client.sslContext(tls).build();
  }

  /** The URL that a value of {@link #URL_OPTION} is. */
  static URI url(String text) {
    try {
      URI url = URI.create(text.strip());
      if (url.getHost() != null && List.of("http", "https").contains(url.getScheme())) {
        return url;
      }
    } catch (IllegalArgumentException e) {
      throw new UsageException(URL_OPTION, "must be a URL: " + Errors.reason(e));
    }
    throw new UsageException(
        URL_OPTION, "must be http://HOST:PORT, not '" + Errors.shown(text) + "'");
  }

  /** All workers. */
  JsonNode workers() throws IOException {
    return ask("GET", WORKERS, null);
  }

  /** All ranks, by worker. */
  JsonNode ranks() throws IOException {
    return ask("GET", "/kvasir/ranks", null);
  }

  /** The last decisions, newest first. */
  JsonNode decisions() throws IOException {
    return ask("GET", "/kvasir/decisions", null);
  }

  /** The page of metrics. */
  String metrics() throws IOException {
    HttpResponse<String> reply = send("GET", "/metrics", null);
    return reply.statusCode() < FIRST_ERROR ? reply.body() : content(reply).asText();
  }

  /** A worker; null if it is not known. */
  @Nullable JsonNode worker(String id) throws IOException {
    HttpResponse<String> reply = send("GET", path(id), null);
    return reply.statusCode() == NOT_FOUND ? null : content(reply);
  }

  /** Adds a worker, or changes the one of that URL. Returns it. */
  JsonNode add(String description) throws IOException {
    ObjectNode body = JSON.createObjectNode();
    body.put("worker", description);
    return ask("POST", WORKERS, body);
  }

  /** Keeps new requests away from a worker, or no longer. Returns it. */
  JsonNode cordon(String id, boolean cordoned) throws IOException {
    ObjectNode body = JSON.createObjectNode();
    body.put("cordoned", cordoned);
    return ask("PATCH", path(id), body);
  }

  /** Changes a worker's weight. Returns it. */
  JsonNode weigh(String id, double weight) throws IOException {
    ObjectNode body = JSON.createObjectNode();
    body.put("weight", weight);
    return ask("PATCH", path(id), body);
  }

  /** Removes a worker. */
  void remove(String id) throws IOException {
    ask("DELETE", path(id), null);
  }

  private static String path(String id) {
    return WORKERS + "/" + URLEncoder.encode(id, StandardCharsets.UTF_8).replace("+", "%20");
  }

  private JsonNode ask(String method, String path, @Nullable JsonNode body) throws IOException {
    return content(send(method, path, body));
  }

  private static JsonNode content(HttpResponse<String> reply) throws IOException {
    JsonNode content;
    try {
      content = JSON.readTree(reply.body());
    } catch (IOException e) {
      throw new IOException("no answer of an admin port: status " + reply.statusCode(), e);
    }
    if (reply.statusCode() >= FIRST_ERROR) {
      String message = PlainText.of(content.at("/error/message").asText());
      throw new IOException(
          message.isEmpty() ? "the gateway answers with status " + reply.statusCode() : message);
    }
    return content;
  }

  private HttpResponse<String> send(String method, String path, @Nullable JsonNode body)
      throws IOException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(url.resolve(path))
            .timeout(timeout)
            .header("content-type", "application/json")
            .method(
                method,
                body == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(body.toString()));
    if (key != null) {
      request.header("authorization", "Bearer " + key);
    }
    try {
      return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    } catch (SSLException e) {
      throw new IOException(url + " and this command do not agree on TLS: " + Errors.reason(e), e);
    } catch (ConnectException e) {
      throw new IOException("no gateway has its admin port at " + url + " (" + URL_OPTION + ")", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }
}
