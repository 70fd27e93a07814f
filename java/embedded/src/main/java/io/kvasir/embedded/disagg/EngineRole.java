package io.kvasir.embedded.disagg;

import java.util.Locale;

/** What an engine does with requests that two engines answer together. */
public enum EngineRole {
  /** It computes prompts. */
  PREFILL,

  /** It generates answers. */
  DECODE,

  /** It does either. */
  BOTH;

  /** {@return its name: {@code prefill}, {@code decode} or {@code both}} */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** {@return whether it computes prompts for others} */
  boolean prefills() {
    return this != DECODE;
  }

  /** {@return whether it generates answers to prompts of others} */
  boolean decodes() {
    return this != PREFILL;
  }
}
