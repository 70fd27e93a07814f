package io.kvasir.exchange.http;

import io.vertx.core.http.HttpConnection;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/** What a client's connection is used for. Confined to its event loop. */
final class ConnectionUse {

  /** Replies that go on may take this long; the server's own end is earlier. */
  private static final Duration LAST_REPLIES = Duration.ofHours(24);

  private final HttpConnection connection;
  private final Peer peer;
  private final boolean streams;
  private final BooleanSupplier leaving;

  private int exchanges;
  private boolean last;
  private long idleSinceNs = System.nanoTime();

  /**
   * Begins without exchanges.
   *
   * @param peer the other end
   * @param streams whether each exchange has a stream of its own
   * @param leaving whether no connection is kept for a further request
   */
  ConnectionUse(HttpConnection connection, Peer peer, boolean streams, BooleanSupplier leaving) {
    this.connection = connection;
    this.peer = peer;
    this.streams = streams;
    this.leaving = leaving;
  }

  Peer peer() {
    return peer;
  }

  /** Whether it is one of HTTP/2. */
  boolean hasStreams() {
    return streams;
  }

  /** Whether no connection is kept for a further request. */
  boolean leaving() {
    return leaving.getAsBoolean();
  }

  /** Whether no further request of it is served. */
  boolean isLast() {
    return last;
  }

  /** Serves no further request of it. */
  void last() {
    last = true;
  }

  /** An exchange begins. */
  void begin() {
    exchanges++;
  }

  /** An exchange is over. */
  void end() {
    exchanges--;
    idleSinceNs = System.nanoTime();
    if (leaving()) {
      leave();
    }
  }

  /** Closes a connection with streams behind the replies that it has begun (GOAWAY). */
  void leave() {
    if (streams && !last) {
      last = true;
      connection.shutdown(LAST_REPLIES);
    }
  }

  /** Closes it if nothing has happened on it since a time. */
  void closeIfIdleSince(long limitNs) {
    if (exchanges == 0 && idleSinceNs - limitNs < 0) {
      if (streams) {
        connection.shutdown(Duration.ofMillis(ReplyEnd.LINGER_MS)); // says that it goes (GOAWAY)
      } else {
        Connections.closeNow(connection);
      }
    }
  }
}
