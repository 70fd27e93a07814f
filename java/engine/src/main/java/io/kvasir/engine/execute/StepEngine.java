package io.kvasir.engine.execute;

/**
 * What computes a rank's steps: a model of time, a check of reuse, or a device.
 *
 * <p>Confined to the rank's executor thread.
 */
public interface StepEngine {

  /**
   * Runs one step: computes the KV of every entry's new tokens and {@link StepPlan#produce
   * produces} a token for each entry that wants one. O(entries) at least.
   *
   * @param plan the step; not kept
   * @return how long it took, in nanoseconds, at least 0; modelled if the engine models time
   */
  long step(StepPlan plan);
}
