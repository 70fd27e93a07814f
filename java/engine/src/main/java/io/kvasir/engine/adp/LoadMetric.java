package io.kvasir.engine.adp;

/** Which requests and which of their tokens count as a rank's load. */
public enum LoadMetric {
  /** All prompt tokens of active requests. */
  PROMPT_TOKENS,
  /** Prompt tokens of active requests that were not served from cache. */
  UNCACHED_PROMPT_TOKENS,
  /**
   * The same, with the requests whose KV is being sent to another worker: they are through with
   * computing, but their blocks are still held.
   */
  UNCACHED_PROMPT_TOKENS_AND_TRANSFERS
}
