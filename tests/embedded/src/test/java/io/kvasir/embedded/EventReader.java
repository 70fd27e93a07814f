package io.kvasir.embedded;

import io.kvasir.embedded.publish.EventPublisher;
import io.kvasir.testing.harness.Await;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * Reads the events of one rank with sockets of its own, and rebuilds what the rank holds, one
 * straightforward step after the other.
 */
final class EventReader implements AutoCloseable {

  private static final long END = -1;

  /** JeroMQ's handshake sometimes stalls; it connects again after this time. */
  private static final int HANDSHAKE_MS = 500;

  private final ZContext context = new ZContext();
  private final ZMQ.Socket live = context.createSocket(SocketType.SUB);
  private final EventPublisher publisher;
  private final int rank;

  /** The payloads that arrived, by number. */
  final Map<Long, byte[]> payloads = new TreeMap<>();

  final List<String> topics = new ArrayList<>();

  EventReader(EventPublisher publisher, int rank, String topic) {
    this.publisher = publisher;
    this.rank = rank;
    live.setReceiveTimeOut(Await.limitMs());
    live.setHandshakeIvl(HANDSHAKE_MS);
    live.subscribe(topic);
    live.connect("tcp://127.0.0.1:" + (publisher.eventsPort() + rank));
  }

  /** Receives one live message; returns its number. */
  long receive() {
    byte[] topic = live.recv();
    if (topic == null) {
      throw new AssertionError("no event of rank " + rank);
    }
    topics.add(new String(topic, ZMQ.CHARSET));
    long number = ByteBuffer.wrap(live.recv()).getLong();
    payloads.put(number, live.recv());
    return number;
  }

  /** Whether a message is there within a short time. */
  boolean arrives(int withinMs) {
    live.setReceiveTimeOut(withinMs);
    try {
      byte[] topic = live.recv();
      if (topic != null) {
        payloads.put(ByteBuffer.wrap(live.recv()).getLong(), live.recv());
      }
      return topic != null;
    } finally {
      live.setReceiveTimeOut(Await.limitMs());
    }
  }

  /** Receives until a number has arrived. */
  void receiveTo(long number) {
    while (!payloads.containsKey(number)) {
      receive();
    }
  }

  /** The batches that arrived, in the order of their numbers. */
  List<WireEvent.Batch> batches() {
    return payloads.values().stream().map(WireEvent.Batch::of).toList();
  }

  /** Asks for the batches from a number on, with both frames or with more; returns the replies. */
  List<List<byte[]>> ask(long from, byte[]... before) {
    ZMQ.Socket replay = context.createSocket(SocketType.DEALER);
    replay.setReceiveTimeOut(Await.limitMs());
    replay.setRcvHWM(0);
    replay.setHandshakeIvl(HANDSHAKE_MS);
    replay.connect("tcp://127.0.0.1:" + (publisher.replayPort() + rank));
    for (byte[] frame : before) {
      replay.sendMore(frame);
    }
    replay.send(ByteBuffer.allocate(Long.BYTES).putLong(from).array());
    List<List<byte[]>> replies = new ArrayList<>();
    while (replies.isEmpty() || !isEnd(replies.get(replies.size() - 1))) {
      List<byte[]> frames = new ArrayList<>();
      do {
        byte[] frame = replay.recv();
        if (frame == null) {
          throw new AssertionError("no reply to a replay of rank " + rank);
        }
        frames.add(frame);
      } while (replay.hasReceiveMore());
      replies.add(frames);
    }
    replay.close();
    return replies;
  }

  private static boolean isEnd(List<byte[]> frames) {
    return ByteBuffer.wrap(frames.get(frames.size() - 2)).getLong() == END;
  }

  /** Adds the batches from a number on by a replay. */
  void replay(long from) {
    for (List<byte[]> frames : ask(from, new byte[0])) {
      if (!isEnd(frames)) {
        long number = ByteBuffer.wrap(frames.get(frames.size() - 2)).getLong();
        payloads.put(number, frames.get(frames.size() - 1));
      }
    }
  }

  /** A block that the rank holds. */
  record Block(String parent, int position, List<Integer> tokens) {}

  /** What the rank holds after all batches, by handle. */
  Map<String, Block> held() {
    Map<String, Block> held = new LinkedHashMap<>();
    long expected = 0;
    for (Map.Entry<Long, byte[]> payload : payloads.entrySet()) {
      if (payload.getKey() != expected++) {
        throw new AssertionError("batch " + (expected - 1) + " is missing");
      }
      for (WireEvent event : WireEvent.Batch.of(payload.getValue()).events()) {
        apply(event, held);
      }
    }
    return held;
  }

  private static void apply(WireEvent event, Map<String, Block> held) {
    switch (event.type()) {
      case "BlockStored" -> {
        String parent = event.parent();
        int size = event.blockSize();
        if (event.tokens().size() != event.handles().size() * size) {
          throw new AssertionError("a stored event has tokens of all blocks: " + event);
        }
        for (int i = 0; i < event.handles().size(); i++) {
          int position = parent == null ? 0 : held.get(parent).position() + 1;
          String handle = event.handles().get(i);
          if (held.containsKey(handle)) {
            throw new AssertionError("block " + handle + " was stored twice");
          }
          held.put(
              handle,
              new Block(parent, position, event.tokens().subList(i * size, (i + 1) * size)));
          parent = handle;
        }
      }
      case "BlockRemoved" ->
          event
              .handles()
              .forEach(
                  handle -> {
                    if (held.remove(handle) == null) {
                      throw new AssertionError("block " + handle + " was not stored");
                    }
                  });
      case "AllBlocksCleared" -> held.clear();
      default -> throw new AssertionError(event.type());
    }
  }

  @Override
  public void close() {
    context.close();
  }
}
