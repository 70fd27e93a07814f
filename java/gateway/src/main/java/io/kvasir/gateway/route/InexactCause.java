package io.kvasir.gateway.route;

import java.util.Locale;

/** Why it is not known exactly what of a prompt a rank has in its cache. */
public enum InexactCause {
  /** The router does not look at prefixes. */
  POLICY(Exactness.LOAD_ONLY),
  /** No endpoint of the engine or its renderer has the tokens. */
  RENDER_404(Exactness.LOAD_ONLY),
  /** The engine has no tokens for such bodies. */
  BODY_UNSUPPORTED(Exactness.LOAD_ONLY),
  /** The body is too large to be sent for its tokens. */
  BODY_TOO_LARGE(Exactness.LOAD_ONLY),
  /** Questions for tokens fail or take too long. */
  TOKENS_UNANSWERED(Exactness.LOAD_ONLY),
  /** The engine's events have other tokens than the gateway. */
  TOKEN_MISMATCH(Exactness.LOAD_ONLY),
  /** The engine does not use the rank that requests name. */
  RANK_MISMATCH(Exactness.LOAD_ONLY),
  /** The engine's events have blocks of another size. */
  BLOCK_SIZE_MISMATCH(Exactness.LOAD_ONLY),
  /** No block events are followed: what ranks hold is guessed from placements. */
  NO_EVENTS(Exactness.APPROXIMATE),
  /** Nothing has come from the engine's event endpoints yet, or nothing comes any more. */
  EVENTS_SILENT(Exactness.APPROXIMATE),
  /** Batches of events are missing, or one could not be read. */
  EVENTS_LOST(Exactness.APPROXIMATE),
  /** The engine may reuse less than its events say. */
  UPPER_BOUND(Exactness.APPROXIMATE);

  private final Exactness exactness;

  InexactCause(Exactness exactness) {
    this.exactness = exactness;
  }

  /** {@return what is left where this is the cause} */
  public Exactness exactness() {
    return exactness;
  }

  /** {@return the name in reports} */
  public String code() {
    return name().toLowerCase(Locale.ROOT);
  }
}
