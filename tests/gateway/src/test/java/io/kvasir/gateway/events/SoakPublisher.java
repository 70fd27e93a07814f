package io.kvasir.gateway.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.model.RankId;
import io.kvasir.testing.harness.Await;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * The publisher of one rank in a soak, without a replay socket. Remembers when it sent its last
 * batches. Confined to one thread, except for {@link #sentNs}.
 */
final class SoakPublisher implements AutoCloseable {

  private static final int REMEMBERED = 1 << 14;

  private final AtomicLongArray sent = new AtomicLongArray(REMEMBERED);
  private final SoakFrames frames;
  private final RankId rank;
  private final ZMQ.Socket socket;
  private final int port;
  private int batches;
  private int bursts;

  /** Binds to a free port. */
  SoakPublisher(ZContext context, RankId rank, long seed) {
    this.rank = rank;
    frames = new SoakFrames(seed);
    socket = context.createSocket(SocketType.XPUB); // shows subscriptions
    socket.setSndHWM(100_000);
    socket.setLinger(0);
    socket.setReceiveTimeOut(Await.limitMs());
    port = socket.bindToRandomPort("tcp://127.0.0.1");
  }

  FeedSpec spec() {
    return new FeedSpec(rank, "tcp://127.0.0.1:" + port, null, "", false);
  }

  /** Waits until the socket has a subscriber, who misses nothing from then on. */
  void awaitSubscriber() {
    assertThat(socket.recv()).as("a subscription to %s", rank).startsWith(1);
  }

  void publishBatch() {
    send(frames.batch(batches), published());
    batches++;
  }

  void publishBurst() {
    send(frames.burst(bursts), published());
    bursts++;
  }

  private void send(byte[] payload, long number) {
    sent.set((int) number & REMEMBERED - 1, System.nanoTime());
    socket.send("", ZMQ.SNDMORE);
    socket.send(ByteBuffer.allocate(Long.BYTES).putLong(number).array(), ZMQ.SNDMORE);
    socket.send(payload);
  }

  long published() {
    return (long) batches + bursts;
  }

  /** Blocks that the rank holds. */
  long blocks() {
    return SoakFrames.held(batches, bursts);
  }

  /** When one of the last batches was sent. Any thread. */
  long sentNs(long number) {
    return sent.get((int) number & REMEMBERED - 1);
  }

  /** Waits for a time; a few microseconds too long where the time is near. */
  static void awaitNs(long dueNs) {
    while (System.nanoTime() - dueNs < 0) {
      LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(300));
    }
  }

  @Override
  public void close() {
    socket.close();
  }
}
