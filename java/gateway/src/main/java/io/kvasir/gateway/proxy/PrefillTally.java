package io.kvasir.gateway.proxy;

import com.fasterxml.jackson.core.JsonGenerator;
import io.kvasir.gateway.observe.RecordedDecision;
import java.io.IOException;

/** The figures of a prefill worker's leg. Confined to the request's event loop. */
final class PrefillTally {

  private static final double NANOS_PER_MILLI = 1e6;

  private final ChosenTarget choice;
  private final RecordedDecision decision;
  private final boolean corrects;
  private final long sentNs;
  private long answeredNs;
  private long cachedTokens = -1;

  /** The prompt is sent; {@code corrects} if its cached tokens are the request's. */
  PrefillTally(ChosenTarget choice, RecordedDecision decision, boolean corrects, long sentNs) {
    this.choice = choice;
    this.decision = decision;
    this.corrects = corrects;
    this.sentNs = sentNs;
  }

  void onAnswered(long nowNs, long cached) {
    answeredNs = nowNs;
    cachedTokens = cached;
    decision.onFirstToken(nowNs);
    decision.onUsage(-1, cached);
  }

  /** The choice of the worker, as it is recorded. */
  RecordedDecision decision() {
    return decision;
  }

  /** When the prompt was sent, by {@link System#nanoTime}. */
  long sentNs() {
    return sentNs;
  }

  /** Where the prompt is computed. */
  ChosenTarget choice() {
    return choice;
  }

  /** The request's cached tokens in place of the decode worker's; negative for those. */
  long correction() {
    return corrects && answeredNs != 0 ? Math.max(0, cachedTokens) : -1;
  }

  void write(JsonGenerator json, long arrivedNs) throws IOException {
    json.writeStringField("prefill_worker_id", choice.worker().name());
    json.writeStringField("prefill_dp_rank", AccessLine.rankId(choice.dpRank()));
    json.writeNumberField("prefill_matched_tokens", choice.matchedTokens());
    json.writeNumberField("prefill_sent_ms", ms(sentNs - arrivedNs));
    if (answeredNs != 0) {
      json.writeNumberField("prefill_answered_ms", ms(answeredNs - arrivedNs));
    }
    if (cachedTokens >= 0) {
      json.writeNumberField("prefill_cached_tokens", cachedTokens);
    }
  }

  private static double ms(long ns) {
    return Math.round(ns / NANOS_PER_MILLI * 1e3) / 1e3;
  }
}
