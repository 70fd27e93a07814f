package io.kvasir.gateway.openai;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.net.ProtocolException;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Splits a {@code text/event-stream} body, which arrives in chunks of any size, into events.
 *
 * <p>A blank line ends an event; a line ends with a line feed, a carriage return or both. The bytes
 * of all events in order are the bytes of the body. A blank line without an event before it is an
 * event of its own, and so is a comment before an event's first line that ends with a line feed: a
 * comment that keeps a connection alive need not wait for a blank line. An event does not depend on
 * how the body was cut into chunks. A byte order mark at the beginning of the body belongs to no
 * event and is dropped, because readers that do not know it would miss the first event.
 *
 * <p>O(bytes), also for chunks of one byte. An event within one chunk is not copied. Not
 * thread-safe.
 */
public final class SseEvents {

  /** Most bytes of one event. */
  public static final int MAX_EVENT_BYTES = 16 << 20;

  private static final long LINE_FEEDS = ByteSearch.repeated('\n');
  private static final long RETURNS = ByteSearch.repeated('\r');
  private static final byte[] NOTHING = new byte[0];
  private static final byte[] MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};

  /** What came last. */
  private enum State {
    /** The start of a line. */
    LINE_START,
    /** A part of a line. */
    IN_LINE,
    /** A line and a carriage return, which a line feed can follow. */
    LINE_RETURN,
    /** A blank line of one carriage return, which a line feed can follow. */
    BLANK_RETURN
  }

  private final Consumer<SseEvent> receiver;
  private final SseEventReader reader = new SseEventReader();
  private State state = State.LINE_START;

  /** Bytes of a byte order mark that the body has begun with; all once it is past its beginning. */
  private int marked;

  /** Whether the line is a comment, and the event's first. */
  private boolean inComment;

  /** The event's bytes in earlier chunks. */
  private byte[] partial = NOTHING;

  private int partialLength;

  /** Holds a chunk that is outside the heap. */
  private byte[] copy = NOTHING;

  /**
   * Creates a splitter.
   *
   * @param receiver receives each event as soon as it is complete, within {@link #feed} and {@link
   *     #end}; owns and releases the event's bytes
   */
  public SseEvents(Consumer<SseEvent> receiver) {
    this.receiver = receiver;
  }

  /**
   * Continues with a chunk.
   *
   * @param chunk a part of the body; this call takes and releases it
   * @throws ProtocolException if an event is longer than {@link #MAX_EVENT_BYTES}; the splitter
   *     must not be used any more
   */
  public void feed(ByteBuf chunk) throws ProtocolException {
    try {
      int length = chunk.readableBytes();
      if (chunk.hasArray()) {
        split(chunk, chunk.array(), chunk.arrayOffset() + chunk.readerIndex(), length);
      } else {
        if (copy.length < length) {
          copy = new byte[Math.max(length, 1024)];
        }
        chunk.getBytes(chunk.readerIndex(), copy, 0, length);
        split(chunk, copy, 0, length);
      }
    } finally {
      chunk.release();
    }
  }

  /** {@return bytes of memory for an event that is not complete} */
  public int kept() {
    return partial.length;
  }

  /** Ends the body. Passes on the bytes after the last complete event, if any, as an event. */
  public void end() {
    if (marked < MARK.length) { // nothing else has arrived
      partial = Arrays.copyOf(MARK, marked);
      partialLength = marked;
      marked = MARK.length;
    }
    if (partialLength > 0) {
      emitPartial();
    }
  }

  private void split(ByteBuf chunk, byte[] bytes, int from, int length) throws ProtocolException {
    int to = from + length;
    int start = marked < MARK.length ? skipMark(bytes, from, to) : from;
    int i = start;
    while (i < to) {
      boolean ends = false;
      switch (state) {
        case IN_LINE -> {
          i = lineEnd(bytes, i, to);
          if (i < to) {
            state = bytes[i++] == '\n' ? State.LINE_START : State.LINE_RETURN;
            ends = inComment && state == State.LINE_START;
          }
        }
        case LINE_START -> {
          if (bytes[i] == '\n') {
            i++;
            ends = true;
          } else if (bytes[i] == '\r') {
            i++;
            state = State.BLANK_RETURN;
          } else {
            state = State.IN_LINE;
            inComment = bytes[i] == ':' && i == start && partialLength == 0;
          }
        }
        case LINE_RETURN -> {
          if (bytes[i] == '\n') {
            i++;
            state = State.LINE_START;
            ends = inComment;
          } else if (bytes[i] == '\r') {
            i++;
            ends = true;
          } else {
            state = State.IN_LINE;
            inComment = false;
          }
        }
        case BLANK_RETURN -> {
          i += bytes[i] == '\n' ? 1 : 0;
          ends = true;
        }
      }
      if (ends) {
        emit(chunk, bytes, from, start, i);
        start = i;
        state = State.LINE_START;
        inComment = false;
      }
    }
    keep(bytes, start, to);
  }

  /** Passes over a byte order mark; {@return where the first event begins} */
  private int skipMark(byte[] bytes, int from, int to) throws ProtocolException {
    int i = from;
    while (i < to && marked < MARK.length) {
      if (bytes[i] != MARK[marked]) {
        keep(MARK, 0, marked); // the body begins with bytes of a mark that are none
        state = marked > 0 ? State.IN_LINE : state;
        marked = MARK.length;
        return i;
      }
      marked++;
      i++;
    }
    return i;
  }

  private void emit(ByteBuf chunk, byte[] bytes, int origin, int start, int end)
      throws ProtocolException {
    if (partialLength > 0) {
      keep(bytes, start, end);
      emitPartial();
      return;
    }
    limit(end - start);
    ByteBuf slice = chunk.retainedSlice(chunk.readerIndex() + start - origin, end - start);
    SseEvent event = new SseEvent(slice);
    reader.read(event, bytes, start, end);
    receiver.accept(event);
  }

  private void emitPartial() {
    byte[] bytes = partial;
    int length = partialLength;
    partial = NOTHING;
    partialLength = 0;
    SseEvent event = new SseEvent(Unpooled.wrappedBuffer(bytes, 0, length));
    reader.read(event, bytes, 0, length);
    receiver.accept(event);
  }

  private void keep(byte[] bytes, int from, int to) throws ProtocolException {
    int length = partialLength + to - from;
    limit(length);
    if (length > partial.length) {
      partial = Arrays.copyOf(partial, Math.max(length, Math.min(2 * length, MAX_EVENT_BYTES)));
    }
    System.arraycopy(bytes, from, partial, partialLength, to - from);
    partialLength = length;
  }

  private static void limit(int length) throws ProtocolException {
    if (length > MAX_EVENT_BYTES) {
      throw new ProtocolException(
          "an event of the reply must have at most " + MAX_EVENT_BYTES + " bytes");
    }
  }

  /**
   * Finds the end of a line.
   *
   * @param bytes the array
   * @param from where to begin
   * @param to where to end
   * @return index of the first line feed or carriage return; {@code to} if there is none
   */
  static int lineEnd(byte[] bytes, int from, int to) {
    int i = from;
    for (int lastWord = to - Long.BYTES; i <= lastWord; i += Long.BYTES) {
      long word = ByteSearch.at(bytes, i);
      long ends = ByteSearch.equal(word, LINE_FEEDS) | ByteSearch.equal(word, RETURNS);
      if (ends != 0) {
        return i + ByteSearch.first(ends);
      }
    }
    while (i < to && bytes[i] != '\n' && bytes[i] != '\r') {
      i++;
    }
    return i;
  }
}
