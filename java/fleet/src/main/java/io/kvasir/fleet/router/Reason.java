package io.kvasir.fleet.router;

import java.util.Locale;

/** Why a rank was chosen. */
public enum Reason {
  /** Its turn in the order of the workers. */
  ROUND_ROBIN,
  /** The least load. */
  LOAD,
  /** The best score of matched blocks and load. */
  SCORE,
  /** An earlier request with the same beginning went there. */
  PINNED,
  /** The named conversation lives there. */
  STICKY,
  /** A conversation with the same beginning lives there. */
  IMPLICIT,
  /** No conversation was found, or its worker was excluded: the least load decided. */
  FALLBACK,
  /** The request demanded this rank, or this worker. */
  EXPLICIT,
  /** No other rank was eligible. */
  ONLY_CANDIDATE,
  /** The lowest cost. */
  COST;

  /** {@return the reason's name in reports and JSON, for example {@code only_candidate}} */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }
}
