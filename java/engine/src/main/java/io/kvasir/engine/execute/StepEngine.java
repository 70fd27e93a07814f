package io.kvasir.engine.execute;

/**
 * Computes a rank's steps, in modelled time, on the CPU to check KV reuse, or on a device.
 *
 * <p>Confined to the rank's executor thread.
 */
public interface StepEngine {

  /**
   * Runs one step: computes the KV of every entry's new tokens and {@link StepPlan#produce
   * produces} a token for each entry that reaches the end of its sequence. At least O(entries).
   *
   * @param plan the step; must not be kept
   * @return the duration, in nanoseconds, at least 0; modelled if the engine models time
   */
  long step(StepPlan plan);
}
