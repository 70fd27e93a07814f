package io.kvasir.gateway.events;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.SplittableRandom;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePacker;

/**
 * The batches of one rank in a soak, as vLLM encodes them, built beforehand. A batch stores the
 * next blocks of a chain and, once the rank is full, removes the oldest ones. So do the batches of
 * a burst, each a long prompt of its own.
 */
final class SoakFrames {

  static final int TOKENS_PER_BLOCK = 16;

  /** Blocks of a batch. */
  static final int BLOCKS = 4;

  /** Blocks of a batch in a burst. */
  static final int BURST_BLOCKS = 512;

  /** Batches whose blocks a full rank holds. */
  private static final int HELD = 128;

  /** Batches of a chain. */
  private static final int CHAIN = 8;

  private static final int VOCABULARY = 128_000;

  private final SplittableRandom random;
  private final byte[][] filling = new byte[HELD][];
  private final byte[][] replacing = new byte[2 * HELD][];
  private final byte[] firstBurst;
  private final byte[][] bursts = new byte[2][];

  SoakFrames(long seed) {
    random = new SplittableRandom(seed);
    long[][] handles = handles(replacing.length, BLOCKS);
    for (int i = 0; i < replacing.length; i++) {
      int[] tokens = tokens(BLOCKS);
      Long parent = i % CHAIN == 0 ? null : (Long) handles[i - 1][BLOCKS - 1];
      replacing[i] = batch(handles[(i + HELD) % handles.length], parent, handles[i], tokens);
      if (i < HELD) {
        filling[i] = batch(null, parent, handles[i], tokens);
      }
    }
    long[][] burst = handles(bursts.length, BURST_BLOCKS);
    int[] tokens = tokens(BURST_BLOCKS);
    firstBurst = batch(null, null, burst[0], tokens);
    bursts[0] = batch(burst[1], null, burst[0], tokens);
    bursts[1] = batch(burst[0], null, burst[1], tokens(BURST_BLOCKS));
  }

  /** The payload of an ordinary batch; they count from 0. */
  byte[] batch(int n) {
    return n < HELD ? filling[n] : replacing[n % replacing.length];
  }

  /** The payload of a batch in a burst; they count from 0. */
  byte[] burst(int n) {
    return n == 0 ? firstBurst : bursts[n % bursts.length];
  }

  /** Blocks that the rank holds after some batches of each kind. */
  static long held(int batches, int bursts) {
    return (long) Math.min(batches, HELD) * BLOCKS + (bursts == 0 ? 0 : BURST_BLOCKS);
  }

  private long[][] handles(int batches, int blocks) {
    long[][] handles = new long[batches][];
    for (int i = 0; i < batches; i++) {
      handles[i] = random.longs(blocks).toArray();
    }
    return handles;
  }

  private int[] tokens(int blocks) {
    return random.ints((long) blocks * TOKENS_PER_BLOCK, 0, VOCABULARY).toArray();
  }

  private static byte[] batch(long[] removed, Long parent, long[] stored, int[] tokens) {
    try (MessageBufferPacker out = MessagePack.newDefaultBufferPacker()) {
      out.packArrayHeader(3).packDouble(1_700_000_000.5).packArrayHeader(removed == null ? 1 : 2);
      if (removed != null) {
        out.packMapHeader(4).packString("type").packString("BlockRemoved");
        packHandles(out.packString("block_hashes"), removed);
        packGpu(out);
      }
      out.packMapHeader(9).packString("type").packString("BlockStored");
      packHandles(out.packString("block_hashes"), stored);
      out.packString("parent_block_hash");
      if (parent == null) {
        out.packNil();
      } else {
        out.packLong(parent);
      }
      out.packString("token_ids").packArrayHeader(tokens.length);
      for (int token : tokens) {
        out.packInt(token);
      }
      out.packString("block_size").packInt(TOKENS_PER_BLOCK).packString("lora_id").packNil();
      out.packString("lora_name").packNil();
      packGpu(out);
      out.packNil();
      return out.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void packGpu(MessagePacker out) throws IOException {
    out.packString("medium").packString("GPU").packString("group_idx").packInt(0);
  }

  private static void packHandles(MessagePacker out, long[] handles) throws IOException {
    out.packArrayHeader(handles.length);
    for (long handle : handles) {
      out.packLong(handle);
    }
  }
}
