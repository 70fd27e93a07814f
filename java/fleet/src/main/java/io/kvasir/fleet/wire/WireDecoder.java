package io.kvasir.fleet.wire;

import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * Decodes the batches of KV events that vLLM, SGLang and TensorRT-LLM publish as MessagePack, of
 * all their versions: batch and events are arrays or maps, mixed as they come.
 *
 * <p>An event that cannot be read is skipped and the next one is read. Where the bytes do not even
 * show the event's end, the rest of the batch is lost. No input makes the decoder throw, recurse,
 * or allocate more than a small multiple of the payload's bytes; memory is kept and reused, so
 * decoding allocates nothing once its buffers have grown to the largest event.
 *
 * <p>Not thread-safe: one decoder for each reading thread. O(bytes of the payload).
 */
public final class WireDecoder {

  /** Maximum number of events in a batch. */
  public static final int MAX_EVENTS = 1 << 17;

  /** Maximum number of blocks in an event. */
  public static final int MAX_BLOCKS = 1 << 16;

  /** Maximum number of tokens in an event. */
  public static final int MAX_TOKENS = 1 << 22;

  /** Maximum number of cache groups of a rank. */
  public static final int MAX_GROUPS = 1 << 10;

  /** Maximum length in bytes of a salt and of the names of media, kinds and LoRA adapters. */
  public static final int MAX_TEXT_BYTES = 4096;

  private static final byte[] TS = "ts".getBytes(StandardCharsets.UTF_8);
  private static final byte[] EVENTS = "events".getBytes(StandardCharsets.UTF_8);
  private static final byte[] DP_RANK = "data_parallel_rank".getBytes(StandardCharsets.UTF_8);
  private static final byte[] ATTN_DP_RANK = "attn_dp_rank".getBytes(StandardCharsets.UTF_8);

  private static final int NOWHERE = -1;

  private final MessagePackReader reader = new MessagePackReader();
  private final EventReader events = new EventReader(reader);

  private double timestamp;
  private int dpRank;
  private int eventsAt;

  /** Creates a decoder. */
  public WireDecoder() {}

  /**
   * Decodes one payload.
   *
   * @param payload an array that holds the payload; not changed
   * @param from the payload's first byte
   * @param to its end
   * @param listener receives what is read, before this method returns; must not call this decoder
   * @throws IndexOutOfBoundsException if the range is outside the array
   */
  public void decode(byte[] payload, int from, int to, WireListener listener) {
    Objects.checkFromToIndex(from, to, payload.length);
    reader.reset(payload, from, to);
    boolean whole = false;
    try {
      readHead();
      whole = reader.atEnd();
    } catch (SkipException e) {
      if (e.skipCause() != SkipCause.MALFORMED) {
        listener.onSkipped(e.skipCause());
        return;
      }
    }
    if (eventsAt == NOWHERE) {
      listener.onSkipped(SkipCause.MALFORMED);
      return;
    }
    reader.seek(eventsAt);
    try {
      readEvents(listener);
    } catch (SkipException e) {
      listener.onSkipped(e.skipCause());
      return;
    }
    if (!whole) {
      listener.onSkipped(SkipCause.MALFORMED);
    }
  }

  /** Finds the events. The rank may be behind them, so they are skipped first and read then. */
  private void readHead() throws SkipException {
    timestamp = Double.NaN;
    dpRank = -1;
    eventsAt = NOWHERE;
    WireType form = reader.next();
    int count = reader.length();
    if (form == WireType.ARRAY && count >= 2) {
      readTimestamp();
      readPlaceOfEvents();
      if (count > 2) {
        readRank();
      }
      for (int i = 3; i < count; i++) {
        reader.skipped();
      }
    } else if (form == WireType.MAP) {
      for (int i = 0; i < count; i++) {
        readEntry();
      }
    }
    if (eventsAt == NOWHERE) {
      throw new SkipException(SkipCause.WRONG_TYPE);
    }
  }

  private void readEntry() throws SkipException {
    int begin = reader.position();
    if (reader.next() != WireType.TEXT) {
      reader.seek(begin);
      reader.skipped();
      reader.skipped();
    } else if (reader.textIs(TS)) {
      readTimestamp();
    } else if (reader.textIs(EVENTS)) {
      readPlaceOfEvents();
    } else if (reader.textIs(DP_RANK) || reader.textIs(ATTN_DP_RANK)) {
      readRank();
    } else {
      reader.skipped();
    }
  }

  private void readTimestamp() throws SkipException {
    int begin = reader.position();
    WireType type = reader.next();
    if (type == WireType.FLOAT) {
      timestamp = Double.longBitsToDouble(reader.number());
    } else if (type == WireType.INTEGER && !reader.beyondLong()) {
      timestamp = reader.number();
    }
    reader.seek(begin);
    reader.skipped();
  }

  /** A rank that is not a number from 0 counts as none. */
  private void readRank() throws SkipException {
    int begin = reader.position();
    if (reader.next() == WireType.INTEGER
        && reader.number() >= 0
        && reader.number() <= Integer.MAX_VALUE) {
      dpRank = (int) reader.number();
    }
    reader.seek(begin);
    reader.skipped();
  }

  private void readPlaceOfEvents() throws SkipException {
    int begin = reader.position();
    if (reader.next() != WireType.ARRAY) {
      throw new SkipException(SkipCause.WRONG_TYPE);
    }
    if (reader.length() > MAX_EVENTS) {
      throw new SkipException(SkipCause.TOO_LARGE);
    }
    eventsAt = begin;
    reader.seek(begin);
    reader.skipped();
  }

  private void readEvents(WireListener listener) throws SkipException {
    listener.onBatch(timestamp, dpRank);
    reader.next();
    int count = reader.length();
    for (int i = 0; i < count; i++) {
      int begin = reader.position();
      try {
        events.read(listener);
      } catch (SkipException e) {
        reader.seek(begin);
        reader.skipped();
        listener.onSkipped(e.skipCause());
      }
    }
  }
}
