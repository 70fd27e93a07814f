package io.kvasir.gateway.events;

import java.util.function.Consumer;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

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

  /** Where the poller has the socket. */
  int item = -1;

  StepFeed(FeedSpec spec, Consumer<byte[]> sink, ZContext context, HostNames names) {
    this.spec = spec;
    this.sink = sink;
    this.live = new LiveClient(spec, context, names);
  }

  FeedSpec spec() {
    return spec;
  }

  Consumer<byte[]> sink() {
    return sink;
  }

  ZMQ.Socket socket() {
    return live.socket();
  }

  /** Connects if the host's address has become known, or has changed. */
  void tick(long nowNs) {
    live.connect(nowNs);
  }

  /** Takes a message; false if there is none. */
  boolean receive() {
    LiveClient.Message message = live.receive();
    if (message == LiveClient.Message.BATCH) {
      sink.accept(live.payload());
    }
    return message != LiveClient.Message.NONE;
  }

  void close() {
    live.close();
  }
}
