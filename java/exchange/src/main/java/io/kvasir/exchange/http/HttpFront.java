package io.kvasir.exchange.http;

import io.kvasir.exchange.EventLoop;
import io.kvasir.exchange.Exchange;
import io.kvasir.model.Errors;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.net.ServerSSLOptions;
import io.vertx.core.net.SocketAddress;
import java.io.IOException;
import java.net.BindException;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An HTTP/1.1 server on a number of event loops, with TLS 1.2 and 1.3 by option. Connections are
 * distributed over the loops and stay there.
 *
 * <p>Limits: a request line of {@value #MAX_LINE_BYTES} bytes (414), header fields of {@value
 * #MAX_HEADER_BYTES} bytes together (431). What {@link RequestRules} forbids is answered with 400,
 * CONNECT and TRACE with 405. Connections beyond a {@link ConnectionLimit} are closed at once. A
 * connection on which no request is being answered is closed after {@value #IDLE_SECONDS} seconds
 * without a complete request head.
 *
 * <p>Thread-safe.
 */
public final class HttpFront implements AutoCloseable {

  /** Largest request line, in bytes. */
  public static final int MAX_LINE_BYTES = 8 << 10;

  /** Largest sum of all header fields, in bytes. */
  public static final int MAX_HEADER_BYTES = 32 << 10;

  /** Seconds after which an unused connection is closed. */
  public static final int IDLE_SECONDS = 75;

  private static final Logger LOG = LoggerFactory.getLogger(HttpFront.class);
  private static final int SWEEP_MS = 5_000;
  private static final int BACKLOG = 4096;

  /** Methods that are not served: a tunnel passes bytes unread, a trace returns fields. */
  private static final Set<String> FORBIDDEN = Set.of("CONNECT", "TRACE");

  /** Numbers the servers whose loops share one free port. */
  private static final AtomicInteger NEXT_FREE_PORT = new AtomicInteger(1);

  /** What the server does with input that is not HTTP or exceeds a limit. */
  @FunctionalInterface
  public interface InvalidRequests {

    /**
     * Makes the body of the reply.
     *
     * @param status 400, 405, 414 or 431
     * @param message what is wrong
     * @return a JSON document
     */
    String body(int status, String message);
  }

  private final Vertx vertx;
  private final String deployment;
  private final int port;
  private final @Nullable TlsFiles tls;
  private final Loops loops;

  private HttpFront(Vertx vertx, String deployment, int port, @Nullable TlsFiles tls, Loops loops) {
    this.vertx = vertx;
    this.deployment = deployment;
    this.port = port;
    this.tls = tls;
    this.loops = loops;
  }

  /**
   * Where a server listens.
   *
   * @param host the address
   * @param port the port; 0 for any free one
   * @param tls its certificate and key; null for HTTP without TLS
   */
  public record Address(String host, int port, @Nullable TlsFiles tls) {}

  /**
   * What the loops of a server share.
   *
   * @param port the port that they listen on
   * @param leaving whether connections close after their next reply
   * @param servers the server of each loop
   */
  private record Loops(AtomicInteger port, AtomicBoolean leaving, List<HttpServer> servers) {}

  /**
   * Creates event loops for servers and upstreams, with epoll where the machine has it.
   *
   * @param eventLoops number of threads, at least 1
   * @return the loops; the caller closes them
   */
  public static Vertx eventLoops(int eventLoops) {
    return Vertx.vertx(
        new VertxOptions()
            .setEventLoopPoolSize(eventLoops)
            .setWorkerPoolSize(1)
            .setInternalBlockingPoolSize(2)
            .setPreferNativeTransport(true)
            .setDisableTCCL(true)
            .setFileSystemOptions(
                new FileSystemOptions()
                    .setFileCachingEnabled(false)
                    .setClassPathResolvingEnabled(false)));
  }

  /**
   * Starts a server.
   *
   * @param vertx the event loops
   * @param address where it listens
   * @param eventLoops how many loops serve it
   * @param limit bounds the connections
   * @param invalid makes the replies to input that is not valid HTTP
   * @param handler receives every exchange, on its event loop
   * @return the server
   * @throws IOException if the port cannot be opened, or certificate and key are wrong
   */
  public static HttpFront listen(
      Vertx vertx,
      Address address,
      int eventLoops,
      ConnectionLimit limit,
      InvalidRequests invalid,
      Consumer<Exchange> handler)
      throws IOException {
    String host = address.host;
    TlsFiles tls = address.tls;
    ServerSSLOptions secured = tls == null ? null : tls.read(vertx);
    Loops loops =
        new Loops(
            new AtomicInteger(address.port), new AtomicBoolean(), new CopyOnWriteArrayList<>());
    SocketAddress socket =
        address.port == 0
            ? SocketAddress.sharedRandomPort(NEXT_FREE_PORT.getAndIncrement(), host)
            : SocketAddress.inetSocketAddress(address.port, host);
    try {
      String deployment =
          vertx
              .deployVerticle(
                  () -> new Loop(socket, secured, loops, limit, invalid, handler),
                  new DeploymentOptions().setInstances(eventLoops))
              .toCompletionStage()
              .toCompletableFuture()
              .join();
      return new HttpFront(vertx, deployment, loops.port.get(), tls, loops);
    } catch (CompletionException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      String reason =
          Errors.reason(cause).replaceFirst("^bind\\(\\.\\.\\) failed with error\\(-\\d+\\): ", "");
      throw (IOException)
          new BindException("cannot listen on " + host + ":" + address.port + ": " + reason)
              .initCause(cause);
    }
  }

  /**
   * Creates a handle on an event loop for work that belongs to no exchange.
   *
   * @param vertx the event loops
   * @return one of them
   */
  public static EventLoop loop(Vertx vertx) {
    return new NettyLoop(vertx.getOrCreateContext());
  }

  /** {@return the port that the server listens on} */
  public int port() {
    return port;
  }

  /** Closes each connection after the next reply that begins on it, as the reply says. */
  public void leave() {
    loops.leaving.set(true);
  }

  /**
   * Reads certificate and key again, for the connections from then on; without TLS, nothing. Not on
   * an event loop.
   *
   * @throws IOException if they are wrong; those before stay
   */
  public void reloadTls() throws IOException {
    if (tls != null) {
      ServerSSLOptions secured = tls.read(vertx);
      for (HttpServer server : loops.servers) {
        boolean unused =
            server
                .updateSSLOptions(secured.copy())
                .toCompletionStage()
                .toCompletableFuture()
                .join();
      }
    }
  }

  /** Stops listening and closes all connections. */
  @Override
  public void close() {
    vertx.undeploy(deployment).toCompletionStage().toCompletableFuture().join();
  }

  /** The server's part on one event loop. */
  private static final class Loop extends VerticleBase {

    private final SocketAddress address;
    private final @Nullable ServerSSLOptions tls;
    private final Loops loops;
    private final ConnectionLimit limit;
    private final InvalidRequests invalid;
    private final Consumer<Exchange> handler;
    private final Map<HttpConnection, Use> connections = new HashMap<>();

    private @Nullable HttpServer server;

    /**
     * The use of a connection: whose it is, exchanges in progress, when the latest one ended, and
     * whether no further request is served.
     */
    private static final class Use {
      private final Peer peer;
      private int exchanges;
      private boolean last;
      private long idleSinceNs = System.nanoTime();

      private Use(Peer peer) {
        this.peer = peer;
      }
    }

    Loop(
        SocketAddress address,
        @Nullable ServerSSLOptions tls,
        Loops loops,
        ConnectionLimit limit,
        InvalidRequests invalid,
        Consumer<Exchange> handler) {
      this.address = address;
      this.tls = tls;
      this.loops = loops;
      this.limit = limit;
      this.invalid = invalid;
      this.handler = handler;
    }

    private HttpServerOptions options() {
      HttpServerOptions options =
          new HttpServerOptions()
              .setAcceptBacklog(BACKLOG)
              .setMaxInitialLineLength(MAX_LINE_BYTES)
              .setMaxHeaderSize(MAX_HEADER_BYTES)
              .setHttp2ClearTextEnabled(false)
              .setPerFrameWebSocketCompressionSupported(false)
              .setPerMessageWebSocketCompressionSupported(false)
              .setHandle100ContinueAutomatically(true);
      if (tls != null) {
        options
            .setSsl(true)
            .setKeyCertOptions(tls.getKeyCertOptions())
            .setEnabledSecureTransportProtocols(tls.getEnabledSecureTransportProtocols());
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
      loops.servers.add(created);
      vertx.setPeriodic(SWEEP_MS, timer -> sweep());
      return created.listen(address).onSuccess(listening -> loops.port.set(listening.actualPort()));
    }

    @Override
    public Future<?> stop() {
      return server == null ? Future.succeededFuture() : server.close();
    }

    private void onConnection(HttpConnection connection) {
      Peer peer = Peer.of(connection.remoteAddress());
      if (!limit.enter(peer.address())) {
        Connections.closeNow(connection);
        return;
      }
      HeapContent.addTo(connection);
      connections.put(connection, new Use(peer));
      connection.exceptionHandler(
          failure -> LOG.debug("a client's connection failed: {}", failure.getClass().getName()));
      connection.closeHandler(
          closed -> {
            connections.remove(connection);
            limit.leave(peer.address());
          });
    }

    private void serve(HttpServerRequest request, EventLoop loop) {
      HttpConnection connection = request.connection();
      Use use = connections.get(connection);
      if (use == null || use.last) {
        return; // the connection closes after the answer to an earlier request
      }
      if (!RequestRules.isValid(request) || FORBIDDEN.contains(request.method().name())) {
        use.last = true;
        refuse(request);
        return;
      }
      use.exchanges++;
      request
          .response()
          .endHandler(
              ended -> {
                use.exchanges--;
                use.idleSinceNs = System.nanoTime();
              });
      handler.accept(
          new HttpExchange(request, use.peer, loop, loops.leaving::get, () -> use.last = true));
    }

    private void sweep() {
      long limit = System.nanoTime() - TimeUnit.SECONDS.toNanos(IDLE_SECONDS);
      Iterator<Map.Entry<HttpConnection, Use>> entries =
          Map.copyOf(connections).entrySet().iterator();
      while (entries.hasNext()) {
        Map.Entry<HttpConnection, Use> entry = entries.next();
        if (entry.getValue().exchanges == 0 && entry.getValue().idleSinceNs - limit < 0) {
          Connections.closeNow(entry.getKey());
        }
      }
    }

    private void refuse(HttpServerRequest request) {
      Throwable cause = request.decoderResult().cause();
      int status =
          cause instanceof TooLongHttpLineException
              ? 414
              : cause instanceof TooLongHttpHeaderException
                  ? 431
                  : cause == null && FORBIDDEN.contains(request.method().name()) ? 405 : 400;
      String message =
          switch (status) {
            case 405 -> "CONNECT and TRACE are not served";
            case 414 -> "the request line must not exceed " + MAX_LINE_BYTES + " bytes";
            case 431 -> "header fields must not exceed " + MAX_HEADER_BYTES + " bytes together";
            default -> "the request is not valid HTTP/1.1";
          };
      HttpServerResponse response = request.response();
      response
          .setStatusCode(status)
          .putHeader("content-type", "application/json")
          .putHeader("connection", "close")
          .end(invalid.body(status, message))
          .onComplete(sent -> request.connection().close());
    }
  }
}
