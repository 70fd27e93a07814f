package io.kvasir.rank;

/** Which tokens of a rank's active requests count as its load. */
public enum LoadMetric {
  /** All prompt tokens (default router). */
  PROMPT_TOKENS,
  /** Prompt tokens that were not served from cache (kv_cache_aware router). */
  UNCACHED_PROMPT_TOKENS
}
