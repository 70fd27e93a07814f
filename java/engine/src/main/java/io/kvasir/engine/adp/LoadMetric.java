package io.kvasir.engine.adp;

/** The requests and tokens that count as a rank's load. */
public enum LoadMetric {
  /** All prompt tokens of active requests. */
  PROMPT_TOKENS,
  /** Prompt tokens of active requests that were not served from cache. */
  UNCACHED_PROMPT_TOKENS,
  /**
   * Like {@link #UNCACHED_PROMPT_TOKENS}, plus requests whose KV is being sent to another worker.
   * Their computation has ended, but they still occupy blocks.
   */
  UNCACHED_PROMPT_TOKENS_AND_TRANSFERS
}
