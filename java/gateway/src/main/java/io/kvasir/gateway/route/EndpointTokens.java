package io.kvasir.gateway.route;

import org.jspecify.annotations.Nullable;

/** Whether requests to one endpoint of a model had tokens. Thread-safe. */
public final class EndpointTokens {

  /** Requests that count. */
  static final int WINDOW = 32;

  private final String endpoint;
  private final String path;
  private long known;
  private long missing;

  /** Of the last requests, one bit for each that lacked tokens. */
  private int lacking;

  private @Nullable InexactCause last;

  /**
   * Begins without requests.
   *
   * @param endpoint the endpoint's name in metrics
   * @param path its path
   */
  EndpointTokens(String endpoint, String path) {
    this.endpoint = endpoint;
    this.path = path;
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

  /** {@return the endpoint's path} */
  public String path() {
    return path;
  }

  /** {@return requests with tokens} */
  public synchronized long known() {
    return known;
  }

  /** {@return requests without} */
  public synchronized long missing() {
    return missing;
  }

  /** {@return the last cause if the endpoint is not exact; else null} */
  public synchronized @Nullable InexactCause cause() {
    return exactness() == Exactness.EXACT ? null : last;
  }

  /**
   * {@return what is left if the tokens decide: load only if half of the last requests lacked them,
   * exact if at most one of 16 did}
   */
  public synchronized Exactness exactness() {
    long counted = Math.min(known + missing, WINDOW);
    int lacked = Integer.bitCount(lacking);
    if (16L * lacked <= counted) {
      return Exactness.EXACT;
    }
    boolean guessed = last != null && last.exactness() == Exactness.APPROXIMATE;
    return 2L * lacked < counted || guessed ? Exactness.APPROXIMATE : Exactness.LOAD_ONLY;
  }
}
