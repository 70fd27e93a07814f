package io.kvasir.engine.execute;

import io.kvasir.engine.adp.RankWork;
import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.LeaseBatch;
import java.util.function.Consumer;

/**
 * The step of a rank: schedules it by {@link Growth} and {@link Admission}, has the engine compute
 * it, and makes its results visible by {@link Completion}. There is one at a time, from {@link
 * #begin} to {@link #apply}.
 *
 * <p>Confined to the rank's executor thread.
 */
final class RankStep {

  private final int rank;
  private final BlockPool pool;
  private final StepEngine engine;
  private final StartedRequests started;
  private final StepPlan plan = new StepPlan();
  private final Growth growth;
  private final Admission admission;
  private final Completion completion;
  private final Consumer<LeaseBatch> leasing;
  private boolean inStep;
  private boolean waitsForTransfer;

  RankStep(
      int rank,
      BlockPool pool,
      StepEngine engine,
      StartedRequests started,
      Growth growth,
      Admission admission,
      Completion completion) {
    this.rank = rank;
    this.pool = pool;
    this.engine = engine;
    this.started = started;
    this.growth = growth;
    this.admission = admission;
    this.completion = completion;
    this.leasing = growth::lease;
  }

  /**
   * Schedules a step and computes it. If prefill is delayed, no request starts or prefills, and the
   * duration is 0 if nothing else is left.
   *
   * @param nowNs the time for the listener
   * @param tokenBudget the most tokens of the step
   * @param hasWork whether the rank has requests to compute
   * @param transfers whether requests of the rank are in transfer
   * @return the duration, in nanoseconds; 0 if there is no step
   */
  long begin(
      long nowNs, int tokenBudget, boolean withoutPrefill, boolean hasWork, boolean transfers) {
    requireEnded();
    waitsForTransfer = false;
    if (!hasWork) {
      return 0;
    }
    schedule(nowNs, tokenBudget, withoutPrefill);
    if (plan.size() == 0 && withoutPrefill) {
      return 0;
    }
    waitsForTransfer = plan.size() == 0 && transfers;
    if (waitsForTransfer) {
      return 0;
    }
    if (plan.size() == 0) {
      throw new CrowdedPoolException(rank, pool.occupancy());
    }
    pool.submit();
    long durationNs = engine.step(plan);
    inStep = true;
    return durationNs;
  }

  private void schedule(long nowNs, int tokenBudget, boolean withoutPrefill) {
    plan.clear();
    boolean paused = growth.plan(plan, tokenBudget, withoutPrefill, nowNs);
    while (plan.size() == 0
        && paused
        && (withoutPrefill ? started.decoding() > 0 : !started.isEmpty())) {
      // All requests in the plan were paused.
      growth.plan(plan, tokenBudget, withoutPrefill, nowNs);
    }
    if (!paused && !withoutPrefill) {
      admission.plan(plan, growth.budgetLeft(), growth.anyPrefill(), leasing, nowNs);
    }
    growth.takeReserved();
  }

  /**
   * Makes the results visible. Does nothing if no step has begun.
   *
   * @param endNs the time for the listener
   * @return the number of requests that are done, for {@link #takeDone}
   */
  int apply(long endNs) {
    if (!inStep) {
      return 0;
    }
    pool.complete();
    completion.apply(plan, endNs);
    inStep = false;
    if (completion.doneCount() > 0) {
      plan.forget();
    }
    return completion.doneCount();
  }

  /** Takes one of the requests that are done with the last step. */
  PlacedRequest takeDone(int i) {
    return completion.takeDone(i);
  }

  /** The work of the step that has begun; none between steps. */
  RankWork work() {
    return inStep ? plan.work() : RankWork.NONE;
  }

  /** Whether the last step was empty because blocks in transfer kept requests from starting. */
  boolean waitsForTransfer() {
    return waitsForTransfer;
  }

  /** Keeps no request of the last step. */
  void forget() {
    plan.forget();
  }

  /** Ends the step without its results: the rank is retired. */
  void abandon() {
    inStep = false;
    plan.forget();
  }

  /**
   * Refuses calls between the halves of a step.
   *
   * @throws IllegalStateException if a step has begun and not ended
   */
  void requireEnded() {
    if (inStep) {
      throw new IllegalStateException("the step of rank " + rank + " has not ended");
    }
  }
}
