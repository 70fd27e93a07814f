package io.kvasir.gateway.events;

import io.kvasir.gateway.zmtp.ZmtpLoop;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.Consumer;

/**
 * Receives messages that are not replayed: the forward-pass metrics of one rank, or the loads of
 * another gateway.
 *
 * <p>Confined to the thread of the {@link EventPump}.
 */
final class StepFeed {

  private final FeedSpec spec;
  private final Consumer<byte[]> sink;
  private final LiveClient live;

  StepFeed(FeedSpec spec, Consumer<byte[]> sink, ZmtpLoop loop, HostNames names) {
    this.spec = spec;
    this.sink = sink;
    try {
      this.live = new LiveClient(spec, loop, names);
    } catch (IOException e) { // such endpoints are never bound
      throw new UncheckedIOException(e);
    }
  }

  FeedSpec spec() {
    return spec;
  }

  Consumer<byte[]> sink() {
    return sink;
  }

  /** Whether {@link #receive} may find something now. */
  boolean isReadable() {
    return live.socket().isReadable();
  }

  /** Connects if the host's address has become known, or has changed. */
  void tick(long nowNs) {
    live.tick(nowNs);
  }

  /** Takes what comes next; false if there is nothing now. */
  boolean receive() {
    LiveClient.Message message = live.receive();
    if (message == LiveClient.Message.BATCH) {
      sink.accept(live.takePayload());
    }
    return message != LiveClient.Message.NONE;
  }

  void close() {
    live.close();
  }
}
