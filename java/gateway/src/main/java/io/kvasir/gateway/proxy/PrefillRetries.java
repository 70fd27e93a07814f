package io.kvasir.gateway.proxy;

import io.kvasir.exchange.UpstreamFailure.Kind;
import io.kvasir.fleet.router.legs.Leg;
import io.kvasir.gateway.route.FleetWorker;
import org.jspecify.annotations.Nullable;

/**
 * Decides how a request goes on that has lost its prefill worker, or the KV that the worker has
 * computed: another one, a worker that serves the whole request, or the end. All of it takes from
 * the request's attempts and from the retry budget.
 *
 * <p>Confined to the request's event loop.
 */
final class PrefillRetries {

  /** Why a transfer begins again, or a decode worker computes the prompt: it has become too old. */
  static final String EXPIRED = "transfer_expired";

  private final Inbound inbound;
  private final CandidateWorkers prefills;
  private final CandidateWorkers decodes;
  private final Attempts attempts;
  private final Services services;

  /** Where the request goes. */
  enum Next {
    /** To another prefill worker. */
    PREFILL,
    /** To a worker that computes the prompt and answers. */
    WHOLE,
    /** Nowhere: the client gets an error. */
    REFUSED
  }

  /**
   * Begins.
   *
   * @param prefills the workers that may compute the prompt
   * @param decodes the workers that may answer
   * @param attempts the request's attempts so far
   */
  PrefillRetries(
      Inbound inbound,
      CandidateWorkers prefills,
      CandidateWorkers decodes,
      Attempts attempts,
      Services services) {
    this.inbound = inbound;
    this.prefills = prefills;
    this.decodes = decodes;
    this.attempts = attempts;
    this.services = services;
  }

  /**
   * A prefill leg has failed.
   *
   * @param reason why, as metrics name it
   * @param kind what has happened to the connection; null if there is an answer
   * @param own whether the request fails at each prefill worker
   * @param answering whether a decode worker has the request: a prefill leg alone leaves nothing
   *     behind
   */
  Next afterFailure(
      FleetWorker worker, String reason, @Nullable Kind kind, boolean own, boolean answering) {
    prefills.onFailed(worker);
    boolean other = !own && prefills.hasOther(Leg.PREFILL);
    // An answer without a transfer is the request's fault at prefill workers only.
    boolean whole = (!own || kind == Kind.INVALID) && decodes.hasOther(Leg.WHOLE);
    boolean again =
        kind != Kind.TIMEOUT
            && (!answering || Repetition.afterSend(inbound))
            && (other || whole)
            && attempts.beginsAgain()
            && (kind == Kind.CONNECT || services.retries().take());
    if (!again) {
      return Next.REFUSED;
    }
    services.metrics().onRetry(worker.name(), reason);
    return other ? Next.PREFILL : Next.WHOLE;
  }

  /** A transfer has become too old while the request waited; whether another one may begin. */
  boolean afterExpiry(FleetWorker worker) {
    boolean again = attempts.isLeft() && services.retries().take();
    if (again) {
      services.metrics().onRetry(worker.name(), EXPIRED);
    }
    return again;
  }

  /**
   * A decode worker reports that the transfer has failed: another prefill worker is next, or the
   * same one if nothing else is left.
   */
  void afterLostTransfer(FleetWorker worker) {
    prefills.onFailed(worker);
    if (!prefills.hasOther(Leg.PREFILL) && !decodes.hasOther(Leg.WHOLE)) {
      prefills.onSpared(worker);
    }
  }
}
