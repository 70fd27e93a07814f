package io.kvasir.fleet.router.projected;

/** One placed request, as its {@link RankForecast} follows it. Not thread-safe. */
final class Attempt {

  final RankForecast rank;

  /** Prompt tokens to compute. */
  final int uncached;

  /** Prompt tokens before them. */
  final int context;

  final long placedNs;

  /** The time that its prompt takes once it begins. */
  final double expectedMs;

  /** The time after which its prompt counts as computed. */
  final double overdueMs;

  /** The expected time until its first token. */
  final double firstTokenMs;

  /** Its target for the time between tokens; infinite for none. */
  final double tpotMs;

  /** The expected number of output tokens. */
  final double outputTokens;

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

  /** The number of the group of prompts that ended together with its own. */
  long group;

  /** Tokens whose KV it reads. */
  long tokens;

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
      boolean awaited) {
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
  }
}
