package io.kvasir.embedded.ranks;

import io.kvasir.embedded.publish.StepPublisher;
import io.kvasir.engine.execute.StepEngine;
import io.kvasir.engine.execute.StepPlan;
import io.kvasir.timing.ForwardPass;
import java.util.Arrays;

/**
 * Publishes what the ranks computed in each step of the worker. The ranks step together, so that
 * each of them reports the time of all.
 *
 * <p>Confined to the ranks' thread.
 */
public final class ReportedSteps {

  private final StepPublisher publisher;
  private final double speed;
  private final ForwardPass[] computed;

  /**
   * Creates reports.
   *
   * @param publisher publishes them
   * @param speed how many times faster than modelled the ranks run
   * @param ranks number of ranks
   */
  public ReportedSteps(StepPublisher publisher, double speed, int ranks) {
    this.publisher = publisher;
    this.speed = speed;
    this.computed = new ForwardPass[ranks];
    Arrays.fill(computed, ForwardPass.IDLE);
  }

  /** The engine of a rank whose steps are reported. */
  StepEngine of(int rank, StepEngine engine) {
    return plan -> {
      computed[rank] = pass(plan);
      return engine.step(plan);
    };
  }

  /** A step as metrics show it: sums over the requests, still without a duration. */
  private static ForwardPass pass(StepPlan plan) {
    int prompts = plan.size() - plan.decodingRequests();
    long tokens = plan.prefillTokens();
    double context = tokens == 0 ? 0 : prompts * plan.attendedPairs() / tokens - tokens / 2.0;
    return new ForwardPass(
        0,
        prompts,
        tokens,
        Math.max(0, Math.round(context)),
        plan.decodingRequests(),
        plan.decodeKvTokens());
  }

  /** Publishes the step that has ended, and its modelled duration. */
  void publish(long durationNs) {
    for (int rank = 0; rank < computed.length; rank++) {
      ForwardPass pass = computed[rank];
      if (pass.prefillRequests() + pass.decodingRequests() > 0) {
        publisher.publish(
            rank,
            new ForwardPass(
                Math.max(1, Math.round(durationNs / speed)),
                pass.prefillRequests(),
                pass.prefillTokens(),
                pass.prefillKvTokens(),
                pass.decodingRequests(),
                pass.decodeKvTokens()));
      }
      computed[rank] = ForwardPass.IDLE;
    }
  }
}
