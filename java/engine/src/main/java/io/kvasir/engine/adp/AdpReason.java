package io.kvasir.engine.adp;

import java.util.Locale;

/** The reason for a placement. */
public enum AdpReason {
  /** The request named the rank, and the rank had room. */
  EXPLICIT,
  /** Cold-start warm-up: the rank had not served anything yet. */
  WARMUP,
  /** The rank matched a prefix that outweighed its load. */
  AFFINITY,
  /** The rank had the least load. */
  LOAD,
  /** The rank was next in round-robin order. */
  ROUND_ROBIN,
  /** A conversation's first turn, placed round-robin. */
  FIRST_TURN,
  /** The conversation is bound to this rank. */
  STICKY,
  /** The rank that the conversation is bound to was full. */
  OVERFLOW;

  /** {@return the reason's name in reports and JSON, for example {@code round_robin}} */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }
}
