package io.kvasir.gateway.proxy;

/**
 * The attempts of one request. A prefill leg and the decode leg that follows it are one attempt; so
 * are two legs that are sent at once.
 *
 * <p>Confined to the request's event loop.
 */
final class Attempts {

  private final int most;
  private int made;

  /** Whether an attempt has begun with a prefill leg, so that its decode leg does not count. */
  private boolean begun;

  /** Whether the last attempt is a repetition at the same worker. */
  private boolean repeated;

  /** Begins with none; {@code most} are allowed. */
  Attempts(int most) {
    this.most = most;
  }

  /** An attempt begins with its prefill leg. */
  void onPrefillSent() {
    made++;
    begun = true;
  }

  /** The request of a worker that answers is sent. */
  void onSent() {
    made += begun ? 0 : 1;
    begun = false;
    repeated = false;
  }

  /** A prefill leg has failed; whether another attempt is allowed. */
  boolean beginsAgain() {
    begun = false;
    return isLeft();
  }

  /** Whether another attempt is allowed. */
  boolean isLeft() {
    return made < most;
  }

  /** Takes an attempt that repeats the last one; whether it is allowed. */
  boolean repeat(boolean harmless) {
    repeated = harmless && isLeft();
    made += repeated ? 1 : 0;
    return repeated;
  }

  /** The last attempt could not be sent: if it was a repetition, nothing was repeated. */
  void onUnsent() {
    made -= repeated ? 1 : 0;
  }
}
