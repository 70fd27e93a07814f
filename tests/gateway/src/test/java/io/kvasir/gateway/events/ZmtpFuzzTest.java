package io.kvasir.gateway.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.gateway.zmtp.RawPeer;
import io.kvasir.model.RankId;
import io.kvasir.testing.harness.Await;
import io.kvasir.testing.harness.Fuzz;
import io.kvasir.testing.harness.ReservedPort;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Peers that send random greetings, frames, lengths and endless messages, to a live socket that
 * connects, one that is bound, and a replay socket. Meanwhile an honest publisher sends batches,
 * which must all arrive in order; and the heap must not grow. A case is some batches.
 */
class ZmtpFuzzTest {

  private static final int CONNECTING = 16;
  private static final int BATCHES = 1_000;

  /** Unfinished messages: 16 MiB and what the doubling of a buffer takes for each at most. */
  private static final long MAX_HEAP_BYTES = 400L << 20;

  private static final String[] TYPES = {"PUB", "XPUB", "ROUTER", "SUB", "", "PUSH"};

  private final EventPump pump = new EventPump();
  private final AtomicLong connections = new AtomicLong();
  private final List<ServerSocket> servers = new ArrayList<>();
  private final ReservedPort port;
  private volatile SplittableRandom seeds;
  private volatile boolean ended;
  private volatile Throwable failure;

  ZmtpFuzzTest() throws IOException {
    port = new ReservedPort();
  }

  @AfterEach
  void close() throws IOException {
    ended = true;
    pump.close();
    for (ServerSocket server : servers) {
      server.close();
    }
    port.close();
  }

  private ServerSocket listen() throws IOException {
    ServerSocket server = RawPeer.listen();
    servers.add(server);
    return server;
  }

  /** Opens a connection, to be spoken to as a hostile peer. */
  private interface Opened {
    RawPeer get() throws IOException;
  }

  @Test
  @Tag("fuzz")
  void hostilePeersDisturbNoHonestPublisher() throws IOException {
    ServerSocket honest = listen();
    CountingSink sink = new CountingSink();
    pump.add(new FeedSpec(new RankId(0, 0), RawPeer.endpoint(honest), null, "", false), sink);
    RawPeer publisher = RawPeer.publisher(honest);
    long before = heapBytes();
    long[] most = {0};
    Fuzz.run(
        "ZmtpFuzzTest",
        random -> {
          begin(random);
          publish(publisher, sink);
          most[0] = Math.max(most[0], heapBytes());
          assertThat(failure).isNull();
          assertThat(sink.wrong).isFalse();
          assertThat(sink.restarts).isZero();
          assertThat(most[0] - before).as("growth of the heap").isLessThan(MAX_HEAP_BYTES);
        });
    System.out.printf(
        "ZmtpFuzzTest: %d hostile connections, %d batches, heap %.0f MB before and %.0f MB at most%n",
        connections.get(), sink.next, before / 1e6, most[0] / 1e6);
  }

  /** Sends batches and waits for all of them. */
  private static void publish(RawPeer publisher, CountingSink sink) throws IOException {
    long end = sink.next + BATCHES;
    for (long number = sink.next; number < end; number++) {
      publisher.send(RawPeer.batch(number, ByteBuffer.allocate(200).putLong(number).array()));
    }
    Await.until("all batches beside hostile peers", () -> sink.next == end);
  }

  /** From now on hostile connections are made of another seed; starts their threads at first. */
  private void begin(Random random) throws IOException {
    boolean first = seeds == null;
    seeds = new SplittableRandom(random.nextLong());
    if (first) {
      start();
    }
  }

  private synchronized Random nextRandom() {
    return new Random(seeds.nextLong());
  }

  private void start() throws IOException {
    for (int i = 1; i <= CONNECTING; i++) { // a dropped peer is connected to again after seconds
      ServerSocket server = listen();
      boolean replays = i % 4 == 0;
      String live = RawPeer.endpoint(replays ? listen() : server);
      String replay = replays ? RawPeer.endpoint(server) : null;
      follow(new FeedSpec(new RankId(i, 0), live, replay, "", false));
      start(() -> RawPeer.accept(server));
    }
    String bound = "tcp://127.0.0.1:" + port.number();
    follow(new FeedSpec(new RankId(CONNECTING + 1, 0), bound, null, "", true));
    start(() -> RawPeer.connect(port.number()));
  }

  private void follow(FeedSpec spec) {
    pump.add(spec, new CountingSink());
  }

  private void start(Opened target) {
    Thread thread = new Thread(() -> attack(target), "hostile");
    thread.setDaemon(true);
    thread.start();
  }

  private void attack(Opened target) {
    while (!ended) {
      try (RawPeer peer = target.get()) {
        connections.incrementAndGet();
        speak(peer, nextRandom());
      } catch (IOException e) {
        // the connection was dropped, or there is none yet
      } catch (RuntimeException | Error e) {
        failure = e;
        return;
      }
    }
  }

  private void speak(RawPeer peer, Random random) throws IOException {
    if (random.nextInt(8) == 0) {
      peer.send(bytes(random, 200));
      return;
    }
    byte[] greeting = RawPeer.greeting(3, "NULL");
    if (random.nextInt(6) == 0) {
      greeting[random.nextInt(greeting.length)] = (byte) random.nextInt();
    }
    peer.send(greeting);
    byte[] ready = RawPeer.ready(TYPES[random.nextInt(8) < 6 ? random.nextInt(3) : 3]);
    if (random.nextInt(6) == 0) {
      ready[random.nextInt(ready.length)] = (byte) random.nextInt();
    }
    peer.send(ready);
    int frames = 1 + random.nextInt(60);
    for (int i = 0; i < frames && !ended; i++) {
      peer.send(frame(random));
    }
    if (random.nextInt(10) == 0) {
      endless(peer, random);
    }
  }

  /** A message without an end, until the other side or the test has had enough. */
  private void endless(RawPeer peer, Random random) throws IOException {
    byte[] frame = RawPeer.frame(RawPeer.MORE, new byte[random.nextInt(1 << random.nextInt(21))]);
    for (long bytes = 0; bytes < 1L << 30 && !ended; bytes += frame.length) {
      peer.send(frame);
    }
  }

  private byte[] frame(Random random) {
    int kind = random.nextInt(20);
    if (kind < 10) {
      return RawPeer.batch(random.nextInt(30), bytes(random, 2_000));
    }
    if (kind < 12) {
      return RawPeer.frame(RawPeer.COMMAND, bytes(random, 300));
    }
    if (kind < 14) {
      byte[] ping = "\4PING\0\0context".getBytes(StandardCharsets.US_ASCII);
      return RawPeer.frame(RawPeer.COMMAND, ping);
    }
    if (kind == 14) {
      return RawPeer.header(random.nextInt(4), random.nextLong());
    }
    if (kind == 15) {
      return RawPeer.header(0, (16 << 20) - random.nextInt(3)); // the rest may never come
    }
    return RawPeer.frame(random.nextInt(kind == 16 ? 256 : 2), bytes(random, 1 << 16));
  }

  private static byte[] bytes(Random random, int most) {
    byte[] bytes = new byte[random.nextInt(most)];
    random.nextBytes(bytes);
    return bytes;
  }

  private static long heapBytes() {
    System.gc();
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }

  /** Takes batches, and notes whether they were in order and whole. */
  private static final class CountingSink implements BatchSink {
    volatile long next;
    volatile boolean wrong;
    volatile int restarts;

    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
    public boolean onBatch(long number, byte[] payload, boolean last) {
      wrong |=
          number != next || payload.length != 200 || ByteBuffer.wrap(payload).getLong() != next;
      next++;
      return true;
    }

    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
    public void onRestart() {
      restarts++;
    }

    @Override
    public void recoverFrom(Feed feed) {}

    @Override
    public void retry() {}
  }
}
