package io.kvasir.gateway.tokens;

import org.jspecify.annotations.Nullable;

/**
 * Whether a model's tokens of this process are those that its engine makes, for one endpoint. Until
 * some requests in a row were equal, and then for one of {@value #SAMPLE}, they are made both ways.
 * Some differences end it until the process ends; one is not enough, because a single client can
 * send what is read in another way. Thread-safe.
 */
public final class TokenParity {

  /** Requests in a row that must be equal before the engine is no longer asked for all. */
  static final int FIRST = 8;

  static final int SAMPLE = 200;

  /** Requests that may differ before the engine alone is asked. */
  static final int MOST_DIFFERENCES = 3;

  private final String path;
  private long requests;
  private int inRow;
  private int equal;
  private int different;
  private boolean refused;
  private @Nullable String difference;

  /** What to do with a request. */
  enum Mode {
    /** Ask the engine alone. */
    ASK,
    /** Make tokens here and ask the engine, whose tokens count. */
    BOTH,
    /** Make tokens here, which count, and ask the engine to compare. */
    SAMPLE,
    /** Make tokens here. */
    OWN
  }

  TokenParity(String path) {
    this.path = path;
  }

  synchronized Mode next() {
    if (refused) {
      return Mode.ASK;
    }
    if (inRow < FIRST) {
      return Mode.BOTH;
    }
    return requests++ % SAMPLE == 0 ? Mode.SAMPLE : Mode.OWN;
  }

  synchronized void onEqual() {
    equal++;
    inRow++;
  }

  /** Returns whether the engine alone is asked from now on. */
  synchronized boolean onDifference(String where) {
    difference = difference == null ? where : difference;
    inRow = 0;
    different++;
    boolean first = different == MOST_DIFFERENCES && !refused;
    refused |= first;
    return first;
  }

  /** The blocks of the engine contradict the tokens. Returns whether they were relied on. */
  synchronized boolean onDoubt() {
    boolean relied = !refused && inRow >= FIRST;
    if (relied) {
      refused = true;
      difference = difference == null ? "what the engine stores" : difference;
    }
    return relied;
  }

  /** {@return the endpoint} */
  public String path() {
    return path;
  }

  /** {@return requests whose tokens were equal} */
  public synchronized int equalRequests() {
    return equal;
  }

  /** {@return requests whose tokens differed} */
  public synchronized int differentRequests() {
    return different;
  }

  /** {@return whether the engine alone is asked} */
  public synchronized boolean refused() {
    return refused;
  }

  /** {@return where tokens differed first, in words without text; null if they never did} */
  public synchronized @Nullable String difference() {
    return difference;
  }
}
