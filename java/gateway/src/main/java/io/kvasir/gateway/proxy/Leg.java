package io.kvasir.gateway.proxy;

/** The part of a request that one worker serves. */
enum Leg {
  /** All of it. */
  WHOLE,
  /** The prompt, whose KV another worker takes. */
  PREFILL,
  /** The answer, to a prompt that another worker has computed. */
  DECODE
}
