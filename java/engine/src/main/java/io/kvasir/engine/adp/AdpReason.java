package io.kvasir.engine.adp;

import java.util.Locale;

/** Why a request was placed where it was. */
public enum AdpReason {
  /** The caller named the rank and it had room. */
  EXPLICIT,
  /** Cold-start warm-up: the rank had not served anything yet. */
  WARMUP,
  /** The rank holds a prefix worth following. */
  AFFINITY,
  /** The rank had the least load. */
  LOAD,
  /** It was the rank's turn. */
  ROUND_ROBIN,
  /** A conversation's first turn, dealt out in turn. */
  FIRST_TURN,
  /** The conversation lives on this rank. */
  STICKY,
  /** The conversation's rank was full. */
  OVERFLOW;

  /**
   * The reason's name in reports and JSON.
   *
   * @return for example {@code round_robin}
   */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }
}
