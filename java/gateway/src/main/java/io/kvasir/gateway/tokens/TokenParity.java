package io.kvasir.gateway.tokens;

import org.jspecify.annotations.Nullable;

/**
 * Whether a model's tokens of this process are those that its engine makes, for one endpoint. The
 * first requests are made both ways, then one of {@value #SAMPLE}. One difference ends it.
 * Thread-safe.
 */
public final class TokenParity {

  /** Requests that must be equal before the engine is no longer asked. */
  static final int FIRST = 8;

  static final int SAMPLE = 200;

  private final String path;
  private long requests;
  private int equal;
  private @Nullable String difference;

  /** What to do with a request. */
  enum Mode {
    /** Ask the engine alone. */
    ASK,
    /** Make tokens here and ask the engine, whose tokens count. */
    BOTH,
    /** Make tokens here. */
    OWN
  }

  TokenParity(String path) {
    this.path = path;
  }

  synchronized Mode next() {
    if (difference != null) {
      return Mode.ASK;
    }
    return equal < FIRST || requests++ % SAMPLE == 0 ? Mode.BOTH : Mode.OWN;
  }

  synchronized void onEqual() {
    equal++;
  }

  /** Returns whether this is the first difference. */
  synchronized boolean onDifference(String where) {
    boolean first = difference == null;
    difference = first ? where : difference;
    return first;
  }

  /** {@return the endpoint} */
  public String path() {
    return path;
  }

  /** {@return requests whose tokens were equal} */
  public synchronized int equalRequests() {
    return equal;
  }

  /** {@return where tokens differed first, in words without text; null if they never did} */
  public synchronized @Nullable String difference() {
    return difference;
  }
}
