package io.kvasir.gateway.route;

import org.jspecify.annotations.Nullable;

/** Whether requests to one endpoint of a model had tokens. Thread-safe. */
public final class EndpointTokens {

  /** Requests that count. */
  static final int WINDOW = 32;

  private final String endpoint;
  private long known;
  private long missing;

  /** Of the last requests, one bit for each that lacked tokens. */
  private int lacking;

  private @Nullable InexactCause last;

  /**
   * Begins without requests.
   *
   * @param endpoint the endpoint's name in metrics
   */
  EndpointTokens(String endpoint) {
    this.endpoint = endpoint;
  }

  /**
   * A request was placed.
   *
   * @param cause why it lacks tokens; null if it has them
   */
  synchronized void onPlaced(@Nullable InexactCause cause) {
    lacking <<= 1;
    if (cause == null) {
      known++;
    } else {
      missing++;
      lacking |= 1;
      last = cause;
    }
  }

  /** {@return the endpoint's name in metrics} */
  public String endpoint() {
    return endpoint;
  }

  /** {@return requests with tokens} */
  public synchronized long known() {
    return known;
  }

  /** {@return requests without} */
  public synchronized long missing() {
    return missing;
  }

  /** {@return the last cause if any of the last requests lacked tokens; else null} */
  public synchronized @Nullable InexactCause cause() {
    return lacking == 0 ? null : last;
  }

  /**
   * {@return what is left if the tokens decide: load only if half of the last requests lacked them}
   */
  public synchronized Exactness exactness() {
    if (lacking == 0) {
      return Exactness.EXACT;
    }
    if (last != null && last.exactness() == Exactness.APPROXIMATE) {
      return Exactness.APPROXIMATE;
    }
    long counted = Math.min(known + missing, WINDOW);
    return 2L * Integer.bitCount(lacking) >= counted ? Exactness.LOAD_ONLY : Exactness.APPROXIMATE;
  }
}
