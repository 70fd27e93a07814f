package io.kvasir.fleet.router.projected;

import org.jspecify.annotations.Nullable;

/** One placed request, as its {@link RankForecast} follows it. Not thread-safe. */
final class Attempt {

  private static final double NS_PER_MS = 1e6;

  /** Of an attempt whose prompt is computed elsewhere. */
  private static final long NO_GROUP = -1;

  private static final long UNLIMITED = 1L << 40;

  final RankForecast rank;

  /** Prompt tokens to compute. */
  final int uncached;

  /** Prompt tokens before them. */
  final int context;

  final long placedNs;

  /** The time that its prompt takes once it begins. */
  final double expectedMs;

  /** The time after which its prompt counts as computed if later ones were. */
  final double overdueMs;

  /** The expected time until its first token. */
  final double firstTokenMs;

  /** Its target for the time between tokens; infinite for none. */
  final double tpotMs;

  /** The expected number of output tokens. */
  final double outputTokens;

  /** The most tokens of its answer. */
  long answerLimit = UNLIMITED;

  /** Whether its first token is reported when it comes; if not, tokens come with the end. */
  final boolean streaming;

  /** Whether the end of its prompt should be reported, by its first token or otherwise. */
  final boolean awaited;

  /** Whether its prompt is in the queue. */
  boolean queued = true;

  /** Whether its prompt counts as computed. */
  boolean decodes;

  /** Whether it was reported that its prompt has been computed. */
  boolean reported;

  /** The number of the group of prompts that ended together with its own; from 0 on. */
  long group;

  /** Whether its prompt is computed elsewhere, and no token has come. */
  private boolean awaitsFirst;

  /** Whether the time of its first token is one that was forecast. */
  boolean timed = true;

  /** Tokens whose KV it reads. */
  long tokens;

  /** What its rank takes from another worker; null for nothing. */
  final TransferTimes.@Nullable Moved moved;

  long streamedTokens;
  long firstNs;
  long lastNs;

  /** Whether tokens have come after the first ones. */
  boolean streams;

  Attempt(
      RankForecast rank,
      int uncached,
      int context,
      long placedNs,
      double expectedMs,
      double overdueMs,
      double firstTokenMs,
      double tpotMs,
      double outputTokens,
      boolean streaming,
      boolean awaited,
      TransferTimes.@Nullable Moved moved) {
    this.rank = rank;
    this.uncached = uncached;
    this.context = context;
    this.placedNs = placedNs;
    this.expectedMs = expectedMs;
    this.overdueMs = overdueMs;
    this.firstTokenMs = firstTokenMs;
    this.tpotMs = tpotMs;
    this.outputTokens = outputTokens;
    this.streaming = streaming;
    this.awaited = awaited;
    this.moved = moved;
  }

  /** Its prompt counts as computed. */
  void decode(long nowNs) {
    decodes = true;
    firstNs = nowNs;
    tokens = (long) uncached + context;
  }

  /** Whether its prompt is computed elsewhere, and no token has come. */
  boolean awaitsFirst() {
    return awaitsFirst;
  }

  /** The time of its first token is not known, although its prompt counts as computed. */
  void awaitFirstToken() {
    awaitsFirst = true;
    group = NO_GROUP;
    lastNs = Long.MIN_VALUE;
  }

  /** Tokens have come after the first ones, or the first after {@link #awaitFirstToken}. */
  void streamsOn(ForecastInterval interval, long nowNs) {
    if (!streams && !awaitsFirst && nowNs > firstNs) {
      streams = true;
      if (timed) {
        interval.learn(firstTokenMs, (firstNs - placedNs) / NS_PER_MS);
      }
    }
  }

  /** Tokens have come; none, if only the end of its prompt is reported. */
  void streamed(int count, long nowNs) {
    if (awaitsFirst && count == 0) {
      return;
    }
    firstNs = awaitsFirst ? nowNs : firstNs;
    awaitsFirst = false;
    tokens += count;
    streamedTokens += count;
    lastNs = nowNs;
  }
}
