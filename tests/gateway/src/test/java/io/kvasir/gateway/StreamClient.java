package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.harness.Await;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.GoAway;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpClientAgent;
import io.vertx.core.http.HttpClientConnection;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpConnectOptions;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.HostAndPort;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** One connection of HTTP/2 to a gateway, whose streams a test controls. Thread-safe. */
final class StreamClient implements AutoCloseable {

  /** What a stream that is not read takes; others of its connection go on. */
  private static final int STREAM_BYTES = 1 << 14;

  private final Vertx vertx =
      Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1).setWorkerPoolSize(1));

  /** Vert.x closes the connections of a client that nothing refers to. */
  private final HttpClientAgent agent;

  private final HttpClientConnection connection;
  private final CompletableFuture<GoAway> goAway = new CompletableFuture<>();
  private final CompletableFuture<Void> closed = new CompletableFuture<>();

  private StreamClient(int port) {
    agent =
        vertx.createHttpClient(
            new HttpClientOptions()
                .setProtocolVersion(HttpVersion.HTTP_2)
                .setSsl(true)
                .setUseAlpn(true)
                .setInitialSettings(new Http2Settings().setInitialWindowSize(STREAM_BYTES))
                .setTrustAll(true)
                .setVerifyHost(false));
    connection = get(agent.connect(new HttpConnectOptions().setHost("127.0.0.1").setPort(port)));
    connection.goAwayHandler(goAway::complete);
    connection.closeHandler(closed::complete);
    assertThat(connection.protocolVersion()).isEqualTo(HttpVersion.HTTP_2);
  }

  static StreamClient to(int port) {
    return new StreamClient(port);
  }

  /** Waits for a result. */
  static <T> T get(Future<T> future) {
    return get(future.toCompletionStage().toCompletableFuture());
  }

  private static <T> T get(CompletableFuture<T> future) {
    try {
      return future.get(Await.limitMs(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException | TimeoutException e) {
      throw new AssertionError(e);
    } catch (ExecutionException e) {
      throw new AssertionError(e.getCause());
    }
  }

  HttpClientConnection connection() {
    return connection;
  }

  /** Begins a stream without anything sent. */
  HttpClientRequest open(HttpMethod method, String path, String... fields) {
    RequestOptions options = new RequestOptions().setMethod(method).setURI(path);
    for (int i = 0; i < fields.length; i += 2) {
      options.addHeader(fields[i], fields[i + 1]);
    }
    return get(connection.request(options));
  }

  /** Sends a request on a stream of its own. */
  Reply send(HttpMethod method, String path, String body, String... fields) {
    HttpClientRequest request = open(method, path, fields);
    Reply reply = new Reply(request, false);
    Future<HttpClientResponse> unused =
        body.isEmpty() ? request.send() : request.send(Buffer.buffer(body));
    return reply;
  }

  /** Asks for a path under the name of a host. */
  Reply get(String host, String path) {
    HttpClientRequest request = open(HttpMethod.GET, path);
    request.authority(HostAndPort.create(host, 443));
    Reply reply = new Reply(request, false);
    Future<HttpClientResponse> unused = request.send();
    return reply;
  }

  /** Sends a head and the beginning of its body. */
  Reply begin(HttpMethod method, String path, String body, String... fields) {
    HttpClientRequest request = open(method, path, fields);
    Reply reply = new Reply(request, false);
    Void unused = get(request.write(body));
    return reply;
  }

  /** Begins a request and takes it back at once. */
  void openAndReset(String path) {
    connection
        .request(new RequestOptions().setMethod(HttpMethod.POST).setURI(path))
        .onSuccess(
            request -> {
              request.putHeader("content-length", "10").writeHead();
              request.reset(8);
            })
        .toCompletionStage()
        .toCompletableFuture()
        .exceptionally(gone -> null)
        .join();
  }

  /** Asks for a completion without reading its body. */
  Reply pausedAsk(String body) {
    HttpClientRequest request =
        open(HttpMethod.POST, TestGateway.CHAT, "content-type", "application/json");
    Reply reply = new Reply(request, true);
    Future<HttpClientResponse> unused = request.send(Buffer.buffer(body));
    return reply;
  }

  /** Asks for a completion on a stream of its own. */
  Reply ask(String body) {
    return send(HttpMethod.POST, TestGateway.CHAT, body, "content-type", "application/json");
  }

  /** Waits until the gateway says that it takes no further request. */
  GoAway goAway() {
    return get(goAway);
  }

  /** Whether the gateway has said that it takes no further request, or has closed. */
  boolean goesAway() {
    return goAway.isDone() || closed.isDone();
  }

  /** Waits until the connection is closed. */
  void awaitClosed() {
    Void unused = get(closed);
  }

  boolean isClosed() {
    return closed.isDone();
  }

  @Override
  public void close() {
    Void unused = get(vertx.close());
  }

  /** The reply on one stream, which is collected as it arrives. */
  static final class Reply {

    private final HttpClientRequest request;
    private final CompletableFuture<HttpClientResponse> head = new CompletableFuture<>();
    private final CompletableFuture<Void> end = new CompletableFuture<>();

    @SuppressWarnings("JdkObsolete") // an event loop appends, a test reads
    private final StringBuffer text = new StringBuffer();

    /** Prepares for a request that is sent later: what arrives must find its handlers. */
    private Reply(HttpClientRequest request, boolean paused) {
      this.request = request;
      request
          .response()
          .onSuccess(
              reply -> {
                if (paused) {
                  reply.pause();
                }
                reply.handler(part -> text.append(part));
                reply.exceptionHandler(this::fail);
                reply.endHandler(end::complete);
                head.complete(reply);
              })
          .onFailure(this::fail);
    }

    private void fail(Throwable cause) {
      head.completeExceptionally(cause);
      end.completeExceptionally(cause);
    }

    int status() {
      return get(head).statusCode();
    }

    MultiMap fields() {
      return get(head).headers();
    }

    /** Waits for the whole body. */
    String whole() {
      Void unused = get(end);
      return text.toString();
    }

    /** Waits for a part of the body. */
    void await(String part) {
      Await.until(() -> text.indexOf(part) >= 0);
    }

    /** Waits until the stream is over; whether it was cut. */
    boolean isCut() {
      Await.until(end::isDone);
      return end.isCompletedExceptionally();
    }

    String text() {
      return text.toString();
    }

    /** Reads again. */
    void resume() {
      get(head).resume();
    }

    /** Sends the rest of the request. */
    void send(String rest) {
      Void unused = get(request.end(rest));
    }

    /** Takes the request back. */
    void cancel() {
      Void unused = get(request.reset(8).mapEmpty());
    }
  }
}
