package io.kvasir.exchange.http;

import io.kvasir.exchange.EventLoop;
import io.kvasir.exchange.Exchange;
import io.kvasir.model.Errors;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.net.ServerSSLOptions;
import io.vertx.core.net.SocketAddress;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A server of HTTP/1.1 on a number of event loops; with TLS 1.2 and 1.3 by option, and then also of
 * HTTP/2, for clients that offer it. Connections are distributed over the loops and stay there.
 *
 * <p>Limits: a request line of {@value #MAX_LINE_BYTES} bytes (414), header fields of {@value
 * #MAX_HEADER_BYTES} bytes together (431). What {@link RequestRules} forbids is answered with 400,
 * CONNECT and TRACE with 405. Connections beyond a {@link ConnectionLimit} are closed when they are
 * accepted, and {@link AcceptGate} ends those that do not speak HTTP. A connection on which no
 * request is being answered is closed after {@value #IDLE_SECONDS} seconds without a complete
 * request head. {@link Http2Limits} has those of HTTP/2.
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
  private final InetSocketAddress bound;
  private final @Nullable TlsFiles tls;
  private final Loops loops;

  private HttpFront(
      Vertx vertx,
      String deployment,
      InetSocketAddress bound,
      @Nullable TlsFiles tls,
      Loops loops) {
    this.vertx = vertx;
    this.deployment = deployment;
    this.bound = bound;
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
   * @param members the loops
   */
  record Loops(AtomicInteger port, AtomicBoolean leaving, List<FrontLoop> members) {}

  /**
   * Creates event loops for servers and upstreams, with epoll where the machine has it.
   *
   * @param eventLoops number of threads, at least 1
   * @return the loops; the caller closes them
   */
  public static Vertx eventLoops(int eventLoops) {
    return Vertx.builder()
        .withTransport(CountedTransport.ofMachine())
        .with(
            new VertxOptions()
                .setEventLoopPoolSize(eventLoops)
                .setWorkerPoolSize(1)
                .setInternalBlockingPoolSize(2)
                .setDisableTCCL(true)
                .setFileSystemOptions(
                    new FileSystemOptions()
                        .setFileCachingEnabled(false)
                        .setClassPathResolvingEnabled(false)))
        .build();
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
    InetAddress host = resolve(address);
    AcceptGate gate = CountedTransport.gate(vertx);
    TlsFiles tls = address.tls;
    ServerSSLOptions secured = tls == null ? null : tls.read(vertx);
    Loops loops =
        new Loops(
            new AtomicInteger(address.port), new AtomicBoolean(), new CopyOnWriteArrayList<>());
    SocketAddress socket =
        address.port == 0
            ? SocketAddress.sharedRandomPort(
                NEXT_FREE_PORT.getAndIncrement(), host.getHostAddress())
            : SocketAddress.inetSocketAddress(address.port, host.getHostAddress());
    try {
      String deployment =
          vertx
              .deployVerticle(
                  () -> new FrontLoop(socket, secured, loops, gate, limit, invalid, handler),
                  new DeploymentOptions().setInstances(eventLoops))
              .toCompletionStage()
              .toCompletableFuture()
              .join();
      InetSocketAddress bound = new InetSocketAddress(host, loops.port.get());
      gate.limit(bound, limit);
      return new HttpFront(vertx, deployment, bound, tls, loops);
    } catch (CompletionException e) {
      throw cannotListen(address, e.getCause() == null ? e : e.getCause());
    }
  }

  private static InetAddress resolve(Address address) throws IOException {
    try {
      return InetAddress.getByName(address.host);
    } catch (UnknownHostException e) {
      throw cannotListen(address, e);
    }
  }

  private static IOException cannotListen(Address address, Throwable cause) {
    String reason =
        Errors.reason(cause).replaceFirst("^bind\\(\\.\\.\\) failed with error\\(-\\d+\\): ", "");
    return (IOException)
        new BindException("cannot listen on " + address.host + ":" + address.port + ": " + reason)
            .initCause(cause);
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
    return bound.getPort();
  }

  /**
   * Closes each connection after the next reply that begins on it, as the reply says; of HTTP/2,
   * after the replies that it has begun, and says at once that it takes no further request.
   */
  public void leave() {
    loops.leaving.set(true);
    loops.members.forEach(FrontLoop::leave);
  }

  /**
   * Reads certificate and key again. Not on an event loop.
   *
   * @return uses them for the connections from then on; does nothing without TLS
   * @throws IOException if they are wrong
   */
  public Runnable readTls() throws IOException {
    if (tls == null) {
      return () -> {};
    }
    ServerSSLOptions secured = tls.read(vertx);
    return () -> loops.members.forEach(loop -> loop.secure(secured.copy()));
  }

  /** Stops listening and closes all connections. */
  @Override
  public void close() {
    vertx.undeploy(deployment).toCompletionStage().toCompletableFuture().join();
    CountedTransport.gate(vertx).forget(bound);
  }
}
