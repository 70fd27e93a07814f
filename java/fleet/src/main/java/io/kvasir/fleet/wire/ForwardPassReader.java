package io.kvasir.fleet.wire;

import io.kvasir.timing.ForwardPass;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Reads the forward-pass metrics that vLLM, SGLang and Dynamo's workers publish after each step:
 * version 1 of their common form, a MessagePack map. Unknown fields are skipped, missing ones are
 * 0. No input makes it throw.
 *
 * <p>Not thread-safe: one reader for each reading thread.
 */
public final class ForwardPassReader {

  /** The version of the form. */
  private static final int VERSION = 1;

  /** Longest step in seconds. */
  private static final double MAX_SECONDS = 3600;

  private static final long MAX_TOKENS = 1L << 40;
  private static final double NS_PER_SECOND = 1e9;

  private static final byte[] VERSION_KEY = utf8("version");
  private static final byte[] DP_RANK = utf8("dp_rank");
  private static final byte[] WALL_TIME = utf8("wall_time");
  private static final byte[] SCHEDULED = utf8("scheduled_requests");

  /** Fields of the scheduled requests, in the order of {@link #counts}. */
  private static final byte[][] COUNTS = {
    utf8("num_prefill_requests"),
    utf8("sum_prefill_tokens"),
    utf8("sum_prefill_kv_tokens"),
    utf8("num_decode_requests"),
    utf8("sum_decode_kv_tokens")
  };

  private final MessagePackReader reader = new MessagePackReader();
  private final SkipCounts skips = new SkipCounts();
  private final long[] counts = new long[COUNTS.length];
  private int dpRank;

  /** Creates a reader. */
  public ForwardPassReader() {}

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Reads one payload.
   *
   * @param payload the payload; not changed
   * @return the step; {@link ForwardPass#IDLE} for a sign of life; null if it cannot be read, which
   *     {@link #skips} counts
   */
  public @Nullable ForwardPass read(byte[] payload) {
    reader.reset(payload, 0, payload.length);
    try {
      return read();
    } catch (SkipException e) {
      skips.add(e.skipCause());
      return null;
    }
  }

  /** {@return the data-parallel rank that the last payload named; 0 if it named none} */
  public int dpRank() {
    return dpRank;
  }

  /** {@return payloads that could not be read} */
  public SkipCounts skips() {
    return skips;
  }

  private ForwardPass read() throws SkipException {
    dpRank = 0;
    Arrays.fill(counts, 0);
    double seconds = 0;
    int fields = map();
    for (int i = 0; i < fields; i++) {
      require(reader.next() == WireType.TEXT);
      if (reader.textIs(VERSION_KEY)) {
        require(count(Integer.MAX_VALUE) == VERSION);
      } else if (reader.textIs(DP_RANK)) {
        dpRank = (int) count(Integer.MAX_VALUE);
      } else if (reader.textIs(WALL_TIME)) {
        seconds = seconds();
      } else if (reader.textIs(SCHEDULED)) {
        readCounts();
      } else {
        reader.skip();
      }
    }
    if (!reader.atEnd()) {
      throw new SkipException(SkipCause.MALFORMED);
    }
    long durationNs = Math.round(seconds * NS_PER_SECOND);
    if (durationNs == 0) {
      return ForwardPass.IDLE;
    }
    return new ForwardPass(
        durationNs, requests(counts[0]), counts[1], counts[2], requests(counts[3]), counts[4]);
  }

  private static int requests(long count) throws SkipException {
    require(count <= Integer.MAX_VALUE);
    return (int) count;
  }

  private void readCounts() throws SkipException {
    int fields = map();
    for (int i = 0; i < fields; i++) {
      require(reader.next() == WireType.TEXT);
      int known = 0;
      while (known < COUNTS.length && !reader.textIs(COUNTS[known])) {
        known++;
      }
      if (known < COUNTS.length) {
        counts[known] = count(MAX_TOKENS);
      } else {
        reader.skip();
      }
    }
  }

  private int map() throws SkipException {
    require(reader.next() == WireType.MAP);
    return reader.length();
  }

  private long count(long most) throws SkipException {
    require(reader.next() == WireType.INTEGER);
    require(!reader.beyondLong() && reader.number() >= 0 && reader.number() <= most);
    return reader.number();
  }

  private double seconds() throws SkipException {
    WireType type = reader.next();
    require(type == WireType.FLOAT || type == WireType.INTEGER);
    double seconds =
        type == WireType.FLOAT ? Double.longBitsToDouble(reader.number()) : reader.number();
    require(seconds >= 0 && seconds <= MAX_SECONDS);
    return seconds;
  }

  private static void require(boolean right) throws SkipException {
    if (!right) {
      throw new SkipException(SkipCause.WRONG_TYPE);
    }
  }
}
