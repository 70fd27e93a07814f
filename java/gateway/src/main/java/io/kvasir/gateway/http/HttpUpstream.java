package io.kvasir.gateway.http;

import io.kvasir.gateway.exchange.ReplyListener;
import io.kvasir.gateway.exchange.Upstream;
import io.kvasir.gateway.exchange.UpstreamCall;
import io.kvasir.gateway.exchange.UpstreamRequest;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientAgent;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import java.net.URI;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An engine behind HTTP/1.1. Each event loop has connections of its own, so that a request and its
 * reply stay on one thread.
 *
 * <p>A connection that has been idle for three seconds is closed: engines behind uvicorn close
 * theirs after five.
 */
public final class HttpUpstream implements Upstream {

  private static final Logger LOG = LoggerFactory.getLogger(HttpUpstream.class);
  private static final int POOL_IDLE_SECONDS = 3;
  private static final int CLEAN_EVERY_MS = 500;
  private static final int MAX_HEADER_BYTES = 64 << 10;
  private static final int MAX_CHUNK_BYTES = 64 << 10;
  private static final int MAX_CONNECTIONS = 1 << 16;

  private final Vertx vertx;
  private final URI url;
  private final int connectTimeoutMs;
  private final boolean tls;
  private final String prefix;
  private final Map<Executor, LoopClient> clients = new ConcurrentHashMap<>();

  /**
   * Creates an upstream; connections are made when requests need them.
   *
   * @param vertx the event loops
   * @param url scheme, host, port, and a path without a slash at its end that precedes every target
   * @param connectTimeoutMs limit for making a connection, in milliseconds
   */
  public HttpUpstream(Vertx vertx, URI url, int connectTimeoutMs) {
    this.vertx = vertx;
    this.url = url;
    this.tls = "https".equalsIgnoreCase(url.getScheme());
    this.prefix = url.getRawPath() == null ? "" : url.getRawPath();
    this.connectTimeoutMs = connectTimeoutMs;
  }

  @Override
  public UpstreamCall send(UpstreamRequest request, ReplyListener reply, Executor loop) {
    return clients.computeIfAbsent(loop, any -> new LoopClient()).send(request, reply);
  }

  @Override
  public void close() {
    clients.values().forEach(LoopClient::close);
  }

  /** The connections of one event loop. */
  private final class LoopClient {

    private final HttpClientAgent pooled = client(true);

    /** Makes a new connection for each request. */
    private final HttpClientAgent unpooled = client(false);

    /** Connections that have not served a request yet. */
    private final Set<HttpConnection> fresh = Collections.newSetFromMap(new WeakHashMap<>());

    private HttpClientAgent client(boolean keepAlive) {
      return vertx
          .httpClientBuilder()
          .with(
              new HttpClientOptions()
                  .setSsl(tls)
                  .setConnectTimeout(connectTimeoutMs)
                  .setKeepAlive(keepAlive)
                  .setKeepAliveTimeout(POOL_IDLE_SECONDS)
                  .setDecompressionSupported(false)
                  .setMaxHeaderSize(MAX_HEADER_BYTES)
                  .setMaxChunkSize(MAX_CHUNK_BYTES))
          .with(new PoolOptions().setHttp1MaxSize(MAX_CONNECTIONS).setCleanerPeriod(CLEAN_EVERY_MS))
          .withConnectHandler(this::onConnection)
          .build();
    }

    private void onConnection(HttpConnection connection) {
      HeapContent.addTo(connection);
      fresh.add(connection);
      connection.exceptionHandler(failure -> LOG.debug("a connection to {} failed", url, failure));
    }

    UpstreamCall send(UpstreamRequest request, ReplyListener reply) {
      HttpCall call = new HttpCall(request, reply, fresh);
      RequestOptions options =
          new RequestOptions()
              .setMethod(HttpMethod.valueOf(request.method()))
              .setHost(url.getHost())
              .setPort(url.getPort() >= 0 ? url.getPort() : tls ? 443 : 80)
              .setURI(prefix + request.target());
      HttpClientAgent client = request.newConnection() ? unpooled : pooled;
      client.request(options).onComplete(call::onConnected, call::onNotConnected);
      return call;
    }

    void close() {
      pooled.close();
      unpooled.close();
    }
  }
}
