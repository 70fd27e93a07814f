package io.kvasir.exchange.http;

import io.kvasir.exchange.EventLoop;
import io.kvasir.exchange.Exchange;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.ServerSSLOptions;
import io.vertx.core.net.SocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A server's part on one event loop, to which it is confined unless a method says otherwise. */
final class FrontLoop extends VerticleBase {

  private static final Logger LOG = LoggerFactory.getLogger(HttpFront.class);
  private static final int SWEEP_MS = 5_000;
  private static final int BACKLOG = 4096;

  private final SocketAddress address;
  private final @Nullable ServerSSLOptions tls;
  private final HttpFront.Loops loops;
  private final AcceptGate gate;
  private final ConnectionLimit limit;
  private final HttpFront.InvalidRequests invalid;
  private final Consumer<Exchange> handler;
  private final Map<HttpConnection, ConnectionUse> connections = new HashMap<>();

  private final UnreadReplies unreadReplies = new UnreadReplies();

  private @Nullable HttpServer server;

  FrontLoop(
      SocketAddress address,
      @Nullable ServerSSLOptions tls,
      HttpFront.Loops loops,
      AcceptGate gate,
      ConnectionLimit limit,
      HttpFront.InvalidRequests invalid,
      Consumer<Exchange> handler) {
    this.address = address;
    this.tls = tls;
    this.loops = loops;
    this.gate = gate;
    this.limit = limit;
    this.invalid = invalid;
    this.handler = handler;
  }

  private HttpServerOptions options() {
    HttpServerOptions options =
        new HttpServerOptions()
            .setAcceptBacklog(BACKLOG)
            .setMaxInitialLineLength(HttpFront.MAX_LINE_BYTES)
            .setMaxHeaderSize(HttpFront.MAX_HEADER_BYTES)
            .setHttp2ClearTextEnabled(false)
            .setPerFrameWebSocketCompressionSupported(false)
            .setPerMessageWebSocketCompressionSupported(false)
            .setHandle100ContinueAutomatically(true);
    if (tls != null) {
      options
          .setSsl(true)
          .setUseAlpn(true)
          .setKeyCertOptions(tls.getKeyCertOptions())
          .setTrustOptions(tls.getTrustOptions())
          .setClientAuth(tls.getClientAuth())
          .setEnabledSecureTransportProtocols(tls.getEnabledSecureTransportProtocols());
      Http2Limits.set(options);
    }
    return options;
  }

  @Override
  public Future<?> start() {
    EventLoop loop = new NettyLoop(context);
    HttpServer created =
        vertx
            .createHttpServer(options())
            .connectionHandler(this::onConnection)
            .invalidRequestHandler(this::refuse)
            .requestHandler(request -> serve(request, loop));
    server = created;
    loops.members().add(this);
    vertx.setPeriodic(SWEEP_MS, timer -> sweep());
    return created.listen(address).onSuccess(listening -> loops.port().set(listening.actualPort()));
  }

  @Override
  public Future<?> stop() {
    return server == null ? Future.succeededFuture() : server.close();
  }

  /** Takes another certificate for the connections from now on. Any other thread; waits. */
  void secure(ServerSSLOptions next) {
    HttpServer running = server;
    if (running != null) {
      boolean unused =
          running.updateSSLOptions(next).toCompletionStage().toCompletableFuture().join();
    }
  }

  /** Says on connections of HTTP/2 that they take no further request. Any thread. */
  void leave() {
    try {
      context.runOnContext(now -> Map.copyOf(connections).values().forEach(ConnectionUse::leave));
    } catch (RejectedExecutionException e) {
      LOG.debug("the connections of a loop that has ended are closed", e);
    }
  }

  private void onConnection(HttpConnection connection) {
    Peer peer = Peer.of(connection.remoteAddress());
    boolean counted = gate.speaks(Connections.channel(connection));
    if (!counted && !limit.enter(peer.address())) { // accepted before the gate had the limit
      Connections.closeNow(connection);
      return;
    }
    boolean streams = connection.protocolVersion() == HttpVersion.HTTP_2;
    if (!streams) {
      HeapContent.addTo(connection);
    }
    connections.put(connection, new ConnectionUse(connection, peer, streams, loops.leaving()::get));
    connection.exceptionHandler(
        failure -> LOG.debug("a client's connection failed: {}", failure.getClass().getName()));
    connection.closeHandler(
        closed -> {
          connections.remove(connection);
          if (!counted) {
            limit.leave(peer.address());
          }
        });
  }

  private void serve(HttpServerRequest request, EventLoop loop) {
    ConnectionUse use = connections.get(request.connection());
    if (use == null || use.isLast()) {
      return; // the connection closes after the answer to an earlier request
    }
    if (RequestRules.isForbidden(request) || !RequestRules.isValid(request)) {
      refuse(request);
      return;
    }
    use.begin();
    ReplyEnd end =
        use.hasStreams()
            ? new StreamEnd(request, loop, unreadReplies)
            : new ConnectionEnd(request, loop, use);
    handler.accept(new HttpExchange(request, use, loop, end));
  }

  private void sweep() {
    long nowNs = System.nanoTime();
    gate.sweep(nowNs);
    long limitNs = nowNs - TimeUnit.SECONDS.toNanos(HttpFront.IDLE_SECONDS);
    Map.copyOf(connections).values().forEach(use -> use.closeIfIdleSince(limitNs));
  }

  private void refuse(HttpServerRequest request) {
    int status = RequestRules.status(request);
    HttpServerResponse response =
        request.response().setStatusCode(status).putHeader("content-type", "application/json");
    String body = invalid.body(status, RequestRules.problem(status));
    ConnectionUse use = connections.get(request.connection());
    if (use != null && use.hasStreams()) {
      response.end(body).onComplete(sent -> response.reset(StreamEnd.NO_ERROR));
      return;
    }
    if (use != null) {
      use.last();
    }
    response
        .putHeader("connection", "close")
        .end(body)
        .onComplete(sent -> request.connection().close());
  }
}
