package io.kvasir.gateway.proxy;

import io.kvasir.gateway.openai.CachedTokens;
import io.kvasir.gateway.openai.EngineError;
import io.kvasir.gateway.openai.SseEvent;
import io.kvasir.gateway.openai.SseEvents;
import io.kvasir.gateway.openai.Usage;
import io.kvasir.gateway.openai.UsageStrip;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import java.net.ProtocolException;
import org.jspecify.annotations.Nullable;

/**
 * A stream of events. Whole events are forwarded, so that a stream that fails never ends inside
 * one.
 */
final class EventBody implements ReplyBody {

  private static final int MAX_PARTS = 64;
  private static final int SERVER_ERROR = 500;

  private final Tally tally;
  private final ReplyReader reader;
  private final ReplyMemory memory;
  private final boolean stripsUsage;
  private final SseEvents events = new SseEvents(this::onEvent);
  private @Nullable ByteBuf out;
  private boolean hasData;

  /** Whether {@link #out} has more than comments. */
  private boolean outHasData;

  private int errorStatus;

  /**
   * Begins with nothing.
   *
   * @param memory counts the bytes of incomplete events
   * @param stripsUsage whether the client has not asked for the usage that the stream ends with
   */
  EventBody(Tally tally, ReplyReader reader, ReplyMemory memory, boolean stripsUsage) {
    this.tally = tally;
    this.reader = reader;
    this.memory = memory;
    this.stripsUsage = stripsUsage;
  }

  @Override
  public @Nullable ByteBuf onBytes(ByteBuf bytes, long nowNs) throws ProtocolException {
    events.feed(bytes);
    if (!memory.holds(events.kept())) {
      throw new NoRoomException();
    }
    if (outHasData && errorStatus == 0) {
      tally.onData(nowNs);
    }
    return taken();
  }

  @Override
  public @Nullable ByteBuf onEnd() {
    events.end();
    return taken();
  }

  private @Nullable ByteBuf taken() {
    ByteBuf ready = out;
    out = null;
    outHasData = false;
    return ready;
  }

  private void onEvent(SseEvent event) {
    reader.takeParams(event.bytes());
    Usage usage = event.usage();
    long cached = tally.cachedCorrection();
    if (cached >= 0
        && !usage.equals(Usage.UNKNOWN)
        && CachedTokens.replace(event.bytes(), cached)) {
      usage = usage.withCachedTokens(cached);
    }
    reader.onTokens(event.outputTokens());
    reader.onUsage(usage, event.index()); // includes the event's own tokens
    boolean comment = event.kind() == SseEvent.Kind.COMMENT;
    if (!comment && (!hasData || event.finished())) {
      hasData = true;
      reader.onEvent(event.bytes());
    }
    if (event.kind() == SseEvent.Kind.ERROR) {
      onError(EngineError.status(event.bytes()));
    }
    ByteBuf bytes = stripsUsage ? UsageStrip.strip(event) : event.bytes();
    if (bytes == null) {
      return;
    }
    outHasData |= !comment;
    if (out == null) {
      out = bytes;
    } else if (out instanceof CompositeByteBuf parts) {
      parts.addComponent(true, bytes);
    } else {
      out = Unpooled.compositeBuffer(MAX_PARTS).addComponent(true, out).addComponent(true, bytes);
    }
  }

  private void onError(int status) {
    if (status >= SERVER_ERROR && errorStatus == 0) {
      errorStatus = status;
    } else if (status < SERVER_ERROR) {
      tally.onError("the engine reported an error in its stream");
    }
  }

  @Override
  public int errorStatus() {
    return errorStatus;
  }

  @Override
  public boolean isStream() {
    return true;
  }

  @Override
  public boolean awaitsData() {
    return !hasData;
  }
}
