package io.kvasir.gateway.verify;

import java.util.Locale;

/** What the evidence says about an assumption. */
public enum Verdict {
  /** There is too little evidence. */
  UNKNOWN,
  /** It agrees with what was seen. */
  CONFIRMED,
  /** It does not; features that rely on it are switched off. */
  CONTRADICTED;

  /** {@return the name in reports} */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }
}
