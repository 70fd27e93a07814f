package io.kvasir.gateway.proxy;

import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.gateway.disagg.LegBody;
import io.kvasir.gateway.route.FleetWorker;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where one attempt of a request goes.
 *
 * @param worker the worker
 * @param dpRank the rank that the request demands; negative if the worker chooses
 * @param reason why, as logs and headers name it
 * @param matchedTokens prompt tokens that the router expects in the rank's cache
 * @param router the router that has booked the attempt; null if the attempt went by load, or its
 *     booking has ended
 * @param attempt the attempt's number at its router
 * @param evidence what the attempt may prove about the worker; null if nothing
 * @param prompt the names of the prompt's blocks; null where nothing is recorded
 * @param leg what the worker's request has where two workers serve the request
 * @param weighing what the router chose from
 */
record ChosenTarget(
    FleetWorker worker,
    int dpRank,
    String reason,
    long matchedTokens,
    @Nullable FleetRouter router,
    long attempt,
    @Nullable AttemptEvidence evidence,
    @Nullable NamedPrompt prompt,
    LegBody leg,
    Weighing weighing) {

  private static final Logger LOG = LoggerFactory.getLogger(ChosenTarget.class);

  /** The target of an attempt that no router has booked, which is sent. */
  static ChosenTarget byLoad(FleetWorker worker, int dpRank, String reason) {
    worker.membership().onSent();
    return new ChosenTarget(
        worker, dpRank, reason, 0, null, 0, null, null, LegBody.WHOLE, Weighing.NONE);
  }

  /** The same target for one leg of the request. */
  ChosenTarget with(LegBody body) {
    return new ChosenTarget(
        worker, dpRank, reason, matchedTokens, router, attempt, evidence, prompt, body, weighing);
  }

  /** Output tokens have streamed. */
  void onTokens(int tokens) {
    report(to -> to.onTokens(attempt, tokens));
  }

  /** The prompt is computed. */
  void onPrefillDone() {
    report(to -> to.onPrefillDone(attempt));
  }

  /** The attempt is in flight, though nothing of it may have come yet. */
  void onAlive() {
    report(to -> to.onAlive(attempt));
  }

  /**
   * The request was served.
   *
   * @param cachedTokens cached tokens by the engine's usage; negative if it reports none
   */
  void onServed(long cachedTokens) {
    if (evidence != null && evidence.onServed(cachedTokens)) {
      report(to -> to.onServed(attempt, (int) Math.min(cachedTokens, Integer.MAX_VALUE)));
    }
  }

  /**
   * The worker computes nothing more for the attempt, but is still in use: evidence and booking end
   * before it.
   *
   * @return the rest of the attempt
   */
  ChosenTarget onComputed() {
    endBooking(true);
    return new ChosenTarget(
        worker, dpRank, reason, matchedTokens, null, attempt, null, prompt, leg, weighing);
  }

  /** The attempt is over. */
  void onFinished(boolean success) {
    worker.membership().onFinished();
    endBooking(success);
  }

  private void endBooking(boolean success) {
    if (evidence != null) {
      evidence.onFinished();
    }
    report(to -> to.onFinished(attempt, success));
  }

  /** Calls the router, whose failure must not end the request. */
  private void report(Consumer<FleetRouter> call) {
    if (router != null) {
      try {
        call.accept(router);
      } catch (RuntimeException e) {
        LOG.error(
            "fleet router {} failed at an attempt of worker {}", router.name(), worker.name(), e);
      }
    }
  }
}
