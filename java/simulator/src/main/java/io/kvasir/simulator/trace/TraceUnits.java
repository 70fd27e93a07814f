package io.kvasir.simulator.trace;

import org.jspecify.annotations.Nullable;

/**
 * The units of a trace. The file decides about values that are null. In JSON lines: seconds and
 * {@value #CHAT_BLOCK_TOKENS} tokens an id where rows name their chats as Alibaba's traces do,
 * otherwise milliseconds and {@value #BLOCK_TOKENS} tokens an id. In CSV, timestamps that are
 * numbers show their unit by the size of the first one.
 *
 * <p>Immutable.
 *
 * @param blockTokens tokens of an id, at least 1, or null
 * @param time the unit of timestamps, or null
 */
public record TraceUnits(@Nullable Integer blockTokens, @Nullable Time time) {

  /** Tokens of an id in Mooncake's traces. */
  static final int BLOCK_TOKENS = 512;

  /** Tokens of an id in Alibaba's traces. */
  static final int CHAT_BLOCK_TOKENS = 16;

  /** A unit of timestamps. */
  public enum Time {
    /** Seconds. */
    S("seconds", 1_000_000_000),
    /** Milliseconds. */
    MS("milliseconds", 1_000_000),
    /** Microseconds. */
    US("microseconds", 1_000),
    /** Nanoseconds. */
    NS("nanoseconds", 1);

    /** About 285 years, which 64 bits of nanoseconds can hold. */
    private static final long MAX_NS = 9_000_000_000_000_000_000L;

    private final String plural;
    private final long ns;

    Time(String plural, long ns) {
      this.plural = plural;
      this.ns = ns;
    }

    /** {@return its name in sentences} */
    String plural() {
      return plural;
    }

    /** {@return its length in nanoseconds} */
    long ns() {
      return ns;
    }

    /** {@return the largest timestamp in this unit} */
    long max() {
      return MAX_NS / ns;
    }
  }
}
