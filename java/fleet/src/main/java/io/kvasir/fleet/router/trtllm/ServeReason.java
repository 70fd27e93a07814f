package io.kvasir.fleet.router.trtllm;

import java.util.Locale;

/** Why a server was chosen. */
public enum ServeReason {
  /** It was its turn. */
  ROUND_ROBIN,
  /** It had the least load. */
  LOAD,
  /** It had the best score of cached blocks and load. */
  SCORE,
  /** An earlier request with the same beginning went there. */
  PINNED,
  /** The named conversation lives there. */
  STICKY,
  /** A conversation with the same beginning lives there. */
  IMPLICIT,
  /** Nothing was known of the conversation, or its server was excluded: the least load decided. */
  FALLBACK;

  /**
   * The reason's name in reports.
   *
   * @return for example {@code sticky}
   */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }
}
