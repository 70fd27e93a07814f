package io.kvasir.embedded.publish;

import io.kvasir.embedded.publish.ReplayRing.Published;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * The sockets of one rank: a PUB socket for batches as they happen, a ROUTER socket for replay.
 *
 * <p>As in vLLM, replay answers only requests of exactly three frames: the sender, an empty frame,
 * and the first number wanted. The ROUTER socket has ZMQ's default limit of messages, and drops
 * what does not fit.
 *
 * <p>Confined to the publisher's thread.
 */
final class RankSockets {

  private static final Logger LOG = LoggerFactory.getLogger(RankSockets.class);

  /** Most messages that a slow subscriber can lag behind; more are lost. */
  private static final int LIVE_LIMIT = 100_000;

  /** Most batches that wait to be sent; more are lost. */
  private static final int MAX_HELD = 100_000;

  private static final byte[] EMPTY = {};
  private static final long END = -1;
  private static final int GARBLED_BYTES = 4;

  private final EventSettings settings;
  private final byte[] topic;
  private final EventEncoder encoder;
  private final Random random;
  private final ReplayRing ring = new ReplayRing();
  private final Deque<Held> held = new ArrayDeque<>();
  private final Deque<Wanted> wanted = new ArrayDeque<>();
  private final ZMQ.Socket live;
  private final ZMQ.@Nullable Socket replay;

  /** A batch that is not sent yet. */
  private record Held(Published batch, long dueNs) {}

  /** A request for a replay. */
  @SuppressWarnings("ArrayRecordComponent") // not compared
  private record Wanted(byte[] sender, long from) {}

  RankSockets(ZContext context, EventSettings settings, int blockTokens, int rank, long seed) {
    this.settings = settings;
    this.topic = settings.topic().getBytes(ZMQ.CHARSET);
    this.encoder = new EventEncoder(settings, blockTokens, rank);
    this.random = new Random(seed + rank);
    this.live = context.createSocket(SocketType.PUB);
    live.setHWM(LIVE_LIMIT);
    this.replay =
        settings.replay() == ReplayForm.NONE ? null : context.createSocket(SocketType.ROUTER);
  }

  ZMQ.Socket live() {
    return live;
  }

  /** The socket for replay; null if there is none. */
  ZMQ.@Nullable Socket replay() {
    return replay;
  }

  /** Takes a batch, which is sent when nothing holds it back. */
  void add(BlockBatch batch, RankFaults faults, long nowNs) {
    if (held.size() < MAX_HELD) {
      Published published = new Published(batch.number(), encoder.encode(batch));
      held.add(new Held(published, nowNs + faults.delayMs() * 1_000_000L));
    }
  }

  /** Forgets all batches. */
  void restart() {
    held.clear();
    ring.clear();
  }

  /** Sends the batches that are due, and answers requests for replay. */
  void work(RankFaults faults, long nowNs) {
    boolean silent = faults.silent(nowNs);
    while (!held.isEmpty()
        && held.getFirst().dueNs - nowNs <= 0
        && (!silent || faults.pauseLoses())) {
      Published batch = held.removeFirst().batch;
      ring.add(batch);
      if (!silent && random.nextDouble() >= faults.drop()) {
        send(batch.number(), garbled(batch.payload(), faults));
      }
    }
    readRequests();
    while (!silent && !wanted.isEmpty()) {
      answer(wanted.removeFirst());
    }
  }

  /** How long nothing is to be done without a message or a change; negative for ever. */
  long idleNs(RankFaults faults, long nowNs) {
    if (faults.silent(nowNs) && !faults.pauseLoses()) {
      return faults.pausedUntilNs() == RankFaults.FOREVER ? -1 : faults.pausedUntilNs() - nowNs;
    }
    if (!held.isEmpty()) {
      return Math.max(0, held.getFirst().dueNs - nowNs);
    }
    boolean waits = faults.silent(nowNs) && faults.pausedUntilNs() != RankFaults.FOREVER;
    return waits ? faults.pausedUntilNs() - nowNs : -1;
  }

  private void send(long number, byte[] payload) {
    live.sendMore(topic);
    live.sendMore(frame(number));
    live.send(payload, ZMQ.DONTWAIT);
  }

  private byte[] garbled(byte[] payload, RankFaults faults) {
    if (random.nextDouble() >= faults.garble()) {
      return payload;
    }
    byte[] wrong = payload.clone();
    for (int i = 0; i < GARBLED_BYTES; i++) {
      wrong[random.nextInt(wrong.length)] ^= (byte) (1 + random.nextInt(255));
    }
    return wrong;
  }

  private void readRequests() {
    if (replay == null) {
      return;
    }
    for (byte[] first = replay.recv(ZMQ.DONTWAIT);
        first != null;
        first = replay.recv(ZMQ.DONTWAIT)) {
      List<byte[]> frames = new ArrayList<>(List.of(first));
      while (replay.hasReceiveMore()) {
        frames.add(replay.recv());
      }
      if (frames.size() == 3 && frames.get(1).length == 0 && frames.get(2).length == Long.BYTES) {
        wanted.add(new Wanted(first, ByteBuffer.wrap(frames.get(2)).getLong()));
      } else {
        LOG.warn("A request for replay has {} frames and is ignored", frames.size());
      }
    }
  }

  private void answer(Wanted request) {
    for (Published batch : ring.batches()) {
      if (Long.compareUnsigned(batch.number(), request.from) >= 0) {
        replayed(request.sender, topic, batch.number(), batch.payload());
      }
    }
    replayed(request.sender, EMPTY, END, EMPTY);
  }

  private void replayed(byte[] sender, byte[] name, long number, byte[] payload) {
    if (replay != null) {
      replay.sendMore(sender);
      replay.sendMore(EMPTY);
      if (settings.replay() == ReplayForm.LONG) {
        replay.sendMore(name);
      }
      replay.sendMore(frame(number));
      replay.send(payload, ZMQ.DONTWAIT);
    }
  }

  private static byte[] frame(long number) {
    return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
  }
}
