package io.kvasir.gateway.proxy;

import io.kvasir.gateway.disagg.LegBody;
import io.kvasir.gateway.observe.RecordedDecision;
import io.kvasir.gateway.observe.RecordedDecisions;
import io.kvasir.model.Errors;
import org.jspecify.annotations.Nullable;

/**
 * Records the choices of workers for one request, and what came of the last one. Confined to the
 * request's event loop.
 */
final class Decided {

  private static final double NANOS_PER_MILLI = 1e6;

  private final RecordedDecisions log;
  private final String id;
  private final String endpoint;
  private int prefills;
  private @Nullable RecordedDecision last;

  Decided(RecordedDecisions log, String id, String endpoint) {
    this.log = log;
    this.id = id;
    this.endpoint = endpoint;
  }

  /** A worker is chosen for the answer; {@code attempt} counts from 1. */
  void answering(ChosenTarget placed, int attempt, String model, boolean streams) {
    boolean whole = placed.leg() == LegBody.WHOLE;
    last =
        add(
            placed,
            whole ? RecordedDecision.WHOLE : RecordedDecision.DECODE,
            attempt,
            model,
            streams);
  }

  /** A worker is chosen that computes the prompt for another one. */
  RecordedDecision prefill(ChosenTarget placed, String model, boolean streams) {
    return add(placed, RecordedDecision.PREFILL, ++prefills, model, streams);
  }

  private RecordedDecision add(
      ChosenTarget placed, String leg, int attempt, String model, boolean streams) {
    Weighing from = placed.weighing();
    return log.add(
        new RecordedDecision.Choice(
            id,
            endpoint,
            Errors.shown(model), // bounds what is kept
            leg,
            attempt,
            streams,
            placed.worker().name(),
            placed.dpRank(),
            placed.reason(),
            placed.matchedTokens(),
            from.promptTokens(),
            from.candidates(),
            from.waitedNs() / NANOS_PER_MILLI,
            from.firstTokenMs(),
            from.terms()));
  }

  void onRank(int rank) {
    if (last != null) {
      last.onRank(rank);
    }
  }

  void onFailed(String reason) {
    if (last != null) {
      last.onFailed(reason);
    }
  }

  void onFirstToken(long nowNs) {
    if (last != null) {
      last.onFirstToken(nowNs);
    }
  }

  /** The request is over; tokens by the engine's usage, negative if unknown. */
  void onOver(int status, long promptTokens, long cachedTokens, @Nullable PrefillTally prefill) {
    if (last != null) {
      last.onUsage(promptTokens, cachedTokens);
      last.onOver(status);
    }
    if (prefill != null) {
      prefill.decision().onOver(status);
    }
  }
}
