package io.kvasir.fleet.load;

import io.kvasir.model.Checks;
import io.kvasir.model.RankId;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A batch of messages of one router, and its form in bytes. Immutable.
 *
 * <p>All numbers are little-endian. A frame is a mark, a version, the router's id, the number of
 * messages, the messages, and the CRC-32C of all bytes before it. A message is its kind (0 added, 1
 * prefill done, 2 freed), request, attempt, worker and rank, the adapter's name in UTF-8 behind its
 * length, and for an added one the input, prefill and expected output tokens, the number of blocks
 * and their hashes.
 *
 * @param routerId the sending router; drawn at random at each start
 * @param messages in order; at most {@link #MAX_MESSAGES}
 */
public record LoadFrame(long routerId, List<LoadMessage> messages) implements ReplicaFrame {

  /** Most messages of a frame. */
  public static final int MAX_MESSAGES = 256;

  static final int MARK = 0x444c564b; // "KVLD"

  private static final int COUNT_BYTES = 2;
  private static final int MESSAGE_BYTES = 1 + 8 + 8 + 8 + 4 + 2;
  private static final int LOAD_BYTES = 4 * 4;

  private static final byte ADDED = 0;
  private static final byte PREFILL_DONE = 1;
  private static final byte FREED = 2;

  /**
   * Copies the list.
   *
   * @throws IllegalArgumentException if there are too many messages
   */
  public LoadFrame {
    Checks.within("messages", messages.size(), 0, MAX_MESSAGES);
    messages = List.copyOf(messages);
  }

  /**
   * Writes the frame. O(bytes).
   *
   * @return its bytes
   * @throws IllegalArgumentException if an adapter's name is too long
   */
  public byte[] encode() {
    List<byte[]> names = new ArrayList<>();
    int length = COUNT_BYTES;
    for (LoadMessage message : messages) {
      byte[] name = message.loraName().getBytes(StandardCharsets.UTF_8);
      Checks.within("bytes of loraName", name.length, 0, 0xffff);
      names.add(name);
      length = Math.addExact(length, MESSAGE_BYTES + name.length);
      if (message.change() instanceof LoadMessage.Added added) {
        length = Math.addExact(length, LOAD_BYTES + Long.BYTES * added.load().blocks());
      }
    }
    ByteBuffer out = FrameBytes.begin(MARK, routerId, length);
    out.putShort((short) messages.size());
    for (int i = 0; i < messages.size(); i++) {
      write(out, messages.get(i), names.get(i));
    }
    return FrameBytes.end(out);
  }

  private static void write(ByteBuffer out, LoadMessage message, byte[] name) {
    LoadMessage.Change change = message.change();
    out.put(
        change instanceof LoadMessage.Added
            ? ADDED
            : change instanceof LoadMessage.PrefillDone ? PREFILL_DONE : FREED);
    out.putLong(message.requestId()).putLong(message.attempt());
    out.putLong(message.rank().workerId()).putInt(message.rank().dpRank());
    out.putShort((short) name.length).put(name);
    if (change instanceof LoadMessage.Added added) {
      SequenceLoad load = added.load();
      out.putInt(load.inputTokens()).putInt(load.prefillTokens());
      out.putInt(load.expectedOutputTokens()).putInt(load.blocks());
      out.asLongBuffer().put(load.sequenceHashes(), 0, load.blocks());
      out.position(out.position() + Long.BYTES * load.blocks());
    }
  }

  /**
   * Reads a frame. O(bytes).
   *
   * @param bytes a whole frame and nothing else
   * @return the frame
   * @throws IllegalArgumentException if the bytes are anything else
   */
  public static LoadFrame decode(byte[] bytes) {
    ByteBuffer in = FrameBytes.open(bytes, MARK);
    long routerId = in.getLong();
    Checks.atLeast("bytes of a frame", in.remaining(), COUNT_BYTES);
    int count = in.getShort();
    Checks.within("messages", count, 0, MAX_MESSAGES);
    List<LoadMessage> messages = new ArrayList<>(count);
    try {
      for (int i = 0; i < count; i++) {
        messages.add(read(in));
      }
    } catch (BufferUnderflowException e) {
      throw new IllegalArgumentException("the frame ends within a message", e);
    }
    Checks.within("bytes behind the last message", in.remaining(), 0, 0);
    return new LoadFrame(routerId, messages);
  }

  private static LoadMessage read(ByteBuffer in) {
    byte kind = in.get();
    long requestId = in.getLong();
    long attempt = in.getLong();
    RankId rank = new RankId(in.getLong(), in.getInt());
    byte[] name = new byte[Short.toUnsignedInt(in.getShort())];
    in.get(name);
    LoadMessage.Change change =
        switch (kind) {
          case ADDED -> new LoadMessage.Added(readLoad(in));
          case PREFILL_DONE -> new LoadMessage.PrefillDone();
          case FREED -> new LoadMessage.Freed();
          default -> throw new IllegalArgumentException("kind must be 0 to 2, not " + kind);
        };
    return new LoadMessage(
        requestId, attempt, rank, new String(name, StandardCharsets.UTF_8), change);
  }

  private static SequenceLoad readLoad(ByteBuffer in) {
    int inputTokens = in.getInt();
    int prefillTokens = in.getInt();
    int expectedOutputTokens = in.getInt();
    int blocks = in.getInt();
    Checks.within("blocks", blocks, 0, in.remaining() / Long.BYTES);
    long[] hashes = new long[blocks];
    in.asLongBuffer().get(hashes);
    in.position(in.position() + Long.BYTES * blocks);
    return new SequenceLoad(hashes, blocks, inputTokens, prefillTokens, expectedOutputTokens);
  }
}
