package io.kvasir.gateway.proxy;

import io.kvasir.exchange.Headers;
import io.kvasir.gateway.keys.Credentials;
import io.kvasir.gateway.keys.KeyRing;
import io.kvasir.gateway.keys.KeyUse;
import org.jspecify.annotations.Nullable;

/**
 * Lets in the requests that present a key, or all requests where no keys are needed. Thread-safe.
 */
public final class KeyGate {

  /** Lets everybody in. */
  public static final KeyGate OPEN = new KeyGate(null, true);

  private final @Nullable KeyRing ring;
  private final boolean forwards;

  /**
   * Creates a gate.
   *
   * @param ring the keys; null if none is needed
   * @param forwards whether engines receive the fields in which clients present keys
   */
  public KeyGate(@Nullable KeyRing ring, boolean forwards) {
    this.ring = ring;
    this.forwards = forwards;
  }

  /** Whether no key is needed. */
  boolean isOpen() {
    return ring == null;
  }

  /**
   * Takes the key from a request's fields, so that no engine receives it.
   *
   * @return whose it is; null if it is not known
   */
  @Nullable KeyUse take(Headers headers) {
    KeyUse key = ring == null ? null : ring.find(headers);
    if (!forwards) {
      Credentials.remove(headers);
    }
    return key;
  }

  /** The reply to a request without a key that is known. */
  static Problem unknownKey() {
    return Problem.of(
        Problem.UNAUTHORIZED,
        "invalid_api_key",
        "an API key of this gateway is needed: in the field Authorization, behind Bearer, or in"
            + " x-api-key");
  }
}
