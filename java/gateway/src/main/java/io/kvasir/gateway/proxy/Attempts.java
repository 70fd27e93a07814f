package io.kvasir.gateway.proxy;

/**
 * The attempts of one request, those of both legs together.
 *
 * <p>Confined to the request's event loop.
 */
final class Attempts {

  private final int most;
  private int made;

  /** Whether the last attempt is a repetition at the same worker. */
  private boolean repeated;

  /** Begins with none; {@code most} are allowed. */
  Attempts(int most) {
    this.most = most;
  }

  /** An attempt is made. */
  void onSent() {
    made++;
    repeated = false;
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
