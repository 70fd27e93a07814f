package io.kvasir.gateway.proxy;

import io.kvasir.exchange.Headers;

/** The choice of worker and rank in a reply's header fields. Stateless. */
final class Explanation {

  private static final String PREFIX = ForwardedHeaders.KVASIR_PREFIX;

  private Explanation() {}

  /** Adds the choice; an engine of Kvasir names rank, match and reason better than the gateway. */
  static void add(Headers to, Headers fromWorker, ChosenTarget choice, Tally tally) {
    PrefillTally prefill = tally.prefill();
    if (prefill != null) {
      to.set(PREFIX + "prefill-worker", prefill.choice().worker().name());
      to.set(PREFIX + "prefill-dp-rank", AccessLine.rankId(prefill.choice().dpRank()));
    }
    to.set(PREFIX + "worker", choice.worker().name());
    to.set(PREFIX + "dp-rank", AccessLine.rankId(tally.dpRank()));
    String matched = fromWorker.get(PREFIX + "matched-tokens");
    to.set(
        PREFIX + "matched-tokens",
        matched == null ? Long.toString(choice.matchedTokens()) : matched);
    String reason = fromWorker.get(PREFIX + "reason");
    to.set(PREFIX + "reason", reason == null ? choice.reason() : choice.reason() + "," + reason);
  }
}
