package io.kvasir.gateway.events;

import io.kvasir.gateway.zmtp.ZmtpLoop;
import io.kvasir.gateway.zmtp.ZmtpRole;
import io.kvasir.gateway.zmtp.ZmtpSocket;
import io.kvasir.gateway.zmtp.ZmtpSocket.Received;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Receives the live batches of one rank.
 *
 * <p>Confined to the thread of the {@link EventPump}.
 */
final class LiveClient {

  private static final int FRAMES = 3;

  private final FeedSpec spec;
  private final HostNames names;
  private final byte[] topic;
  private final ZmtpSocket socket;
  private long number;
  private byte[] payload = {};

  /** What was received. */
  enum Message {
    /** There is nothing now. */
    NONE,
    /** No batch yet; there may be more. */
    OTHER,
    BATCH,
    /** It has not three frames, or no number that a batch can have. */
    INVALID
  }

  /**
   * Opens the socket.
   *
   * @throws IOException if the endpoint is to be bound and cannot be
   */
  LiveClient(FeedSpec spec, ZmtpLoop loop, HostNames names) throws IOException {
    this.spec = spec;
    this.names = names;
    this.topic = spec.topic().getBytes(StandardCharsets.UTF_8);
    this.socket = new ZmtpSocket(loop, ZmtpRole.SUB, topic);
    if (spec.bind()) {
      socket.bind(spec.live());
    }
  }

  ZmtpSocket socket() {
    return socket;
  }

  /** Connects once the engine's address is known, and again when it has changed. */
  void tick(long nowNs) {
    String endpoint = spec.bind() ? null : names.resolve(spec.live(), nowNs);
    if (endpoint != null) {
      try {
        socket.connect(endpoint);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    socket.tick(nowNs);
  }

  /** Takes what comes next, if there is something. */
  Message receive() {
    Received received = socket.receive();
    if (received != Received.MESSAGE) {
      return received == Received.NOTHING ? Message.NONE : Message.OTHER;
    }
    byte[][] frames = socket.takeMessage();
    if (!hasTopic(frames[0])) {
      return Message.OTHER;
    }
    if (frames.length != FRAMES || frames[1].length != Long.BYTES) {
      return Message.INVALID;
    }
    number = ByteBuffer.wrap(frames[1]).getLong();
    payload = frames[2];
    return number < 0 ? Message.INVALID : Message.BATCH;
  }

  private boolean hasTopic(byte[] frame) {
    return frame.length >= topic.length
        && Arrays.equals(frame, 0, topic.length, topic, 0, topic.length);
  }

  /** The number of the batch that was received last. */
  long number() {
    return number;
  }

  /** Hands out the payload of the batch that was received last. */
  byte[] takePayload() {
    byte[] taken = payload;
    payload = new byte[0];
    return taken;
  }

  void close() {
    socket.close();
  }
}
