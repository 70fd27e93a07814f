package io.kvasir.embedded;

import io.kvasir.embedded.api.ApiError;
import io.kvasir.embedded.api.OpenAiJson;
import io.kvasir.exchange.BodyBudget;
import io.kvasir.exchange.Upstream;
import io.kvasir.exchange.http.ConnectionLimit;
import io.kvasir.exchange.http.HttpFront;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * An engine of this process as a server of its own.
 *
 * <p>Thread-safe. Owns its threads and the engine.
 */
public final class EngineServer implements AutoCloseable {

  private static final long MAX_BODY_BYTES = 64L << 20;
  private static final long BODY_BUDGET_BYTES = 512L << 20;
  private static final long BODY_TIMEOUT_MS = 30_000;
  private static final int POLL_MS = 20;

  private final Upstream engine;
  private final Vertx vertx;
  private final DirectHandler handler;
  private final HttpFront front;
  private final AtomicBoolean closed = new AtomicBoolean();

  private EngineServer(Upstream engine, Vertx vertx, String host, int port, int eventLoops)
      throws IOException {
    this.engine = engine;
    this.vertx = vertx;
    this.handler =
        new DirectHandler(
            engine, MAX_BODY_BYTES, BODY_TIMEOUT_MS, new BodyBudget(BODY_BUDGET_BYTES));
    this.front =
        HttpFront.listen(
            vertx,
            new HttpFront.Address(host, port, null),
            eventLoops,
            ConnectionLimit.none(),
            EngineServer::invalid,
            handler);
  }

  /**
   * Starts a server.
   *
   * @param engine answers the requests; closed with the server
   * @param host the address to listen on
   * @param port the port; 0 for any free one
   * @param eventLoops threads that serve requests, at least 1
   * @return the server
   * @throws IOException if the port cannot be opened; the engine stays open
   */
  public static EngineServer start(Upstream engine, String host, int port, int eventLoops)
      throws IOException {
    Vertx vertx = HttpFront.eventLoops(eventLoops);
    try {
      return new EngineServer(engine, vertx, host, port, eventLoops);
    } catch (IOException | RuntimeException e) {
      vertx.close();
      throw e;
    }
  }

  /** The reply to a request that is not valid HTTP. */
  private static String invalid(int status, String message) {
    return OpenAiJson.error(ApiError.of(status, "invalid_http", message)).toString();
  }

  /** {@return the port that the server listens on} */
  public int port() {
    return front.port();
  }

  /**
   * Waits until no request is in progress, for a limited time, and closes the server.
   *
   * @param drainMs the limit, in milliseconds
   * @return requests that were cut
   */
  public int stop(long drainMs) {
    long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(drainMs);
    try {
      while (handler.inProgress() > 0 && System.nanoTime() - endNs < 0) {
        Thread.sleep(POLL_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    int cut = handler.inProgress();
    close();
    return cut;
  }

  @Override
  public void close() {
    if (closed.getAndSet(true)) {
      return;
    }
    front.close();
    engine.close();
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }
}
