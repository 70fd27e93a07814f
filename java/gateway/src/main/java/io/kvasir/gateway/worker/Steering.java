package io.kvasir.gateway.worker;

import org.jspecify.annotations.Nullable;

/**
 * How a request names its rank. Immutable.
 *
 * @param header whether the header {@code X-data-parallel-rank} names it
 * @param bodyField the field of the body that names it; null if none does
 * @param global whether ranks are numbered through the whole deployment, and not from 0 behind each
 *     URL
 */
public record Steering(boolean header, @Nullable String bodyField, boolean global) {

  /** The engine chooses the rank. */
  public static final Steering NONE = new Steering(false, null, false);

  /** {@return whether a request can name its rank} */
  public boolean steers() {
    return header || bodyField != null;
  }

  /**
   * {@return the number that names a rank}
   *
   * @param rank the rank in the worker's own numbering, from 0
   * @param rankOffset the number of the worker's first rank in the whole deployment
   */
  public int number(int rank, int rankOffset) {
    return global ? rankOffset + rank : rank;
  }
}
