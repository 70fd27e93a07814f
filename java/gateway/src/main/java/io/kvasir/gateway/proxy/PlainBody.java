package io.kvasir.gateway.proxy;

import io.kvasir.gateway.openai.CachedTokens;
import io.kvasir.gateway.openai.Usage;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;

/**
 * A reply that is no stream of events. It is forwarded as it arrives; of a generated answer, a copy
 * of at most {@value #MAX_READ_BYTES} bytes is kept to read its usage and its id, if there is
 * memory for it.
 */
final class PlainBody implements ReplyBody {

  private static final int MAX_READ_BYTES = 4 << 20;

  private final Tally tally;
  private final ReplyReader reader;
  private final ReplyMemory memory;
  private @Nullable ByteBuf read;

  /** Whether {@link #read} is not forwarded yet, because it is corrected first. */
  private boolean holds;

  /**
   * Begins with nothing.
   *
   * @param memory counts the copy
   * @param reads whether the answer's usage and id are read
   */
  PlainBody(Tally tally, ReplyReader reader, ReplyMemory memory, boolean reads) {
    this.tally = tally;
    this.reader = reader;
    this.memory = memory;
    this.read = reads ? Unpooled.buffer() : null;
  }

  @Override
  public @Nullable ByteBuf onBytes(ByteBuf bytes, long nowNs) {
    tally.onData(nowNs);
    ByteBuf copy = read;
    if (copy == null) {
      return bytes;
    }
    holds |= !copy.isReadable() && (tally.cachedCorrection() >= 0 || reader.takesParams());
    int length = copy.readableBytes() + bytes.readableBytes();
    if (length > MAX_READ_BYTES || !memory.holds(length)) {
      read = null;
      return holds ? Unpooled.wrappedBuffer(copy, bytes) : bytes;
    }
    copy.writeBytes(bytes, bytes.readerIndex(), bytes.readableBytes());
    if (holds) {
      bytes.release();
      return null;
    }
    return bytes;
  }

  @Override
  public @Nullable ByteBuf onEnd() {
    ByteBuf copy = read;
    if (copy == null || !copy.isReadable()) {
      return null;
    }
    if (holds) {
      reader.takeParams(copy);
      long cached = tally.cachedCorrection();
      if (cached >= 0) {
        CachedTokens.replace(copy, cached);
      }
    }
    reader.onUsage(Usage.of(copy), 0);
    reader.onJson(copy);
    return holds ? copy : null;
  }

  @Override
  public boolean isStream() {
    return false;
  }

  @Override
  public boolean awaitsData() {
    return false;
  }

  @Override
  public int errorStatus() {
    return 0;
  }
}
