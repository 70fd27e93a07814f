package io.kvasir.engine.device;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs all release steps even if some fail. Stateless. */
public final class ReleaseSteps {

  private static final Logger LOG = LoggerFactory.getLogger(ReleaseSteps.class);

  private ReleaseSteps() {}

  /**
   * Runs all steps in order. A {@link FatalDeviceException} is ignored, because a lost device has
   * nothing to release.
   *
   * @param steps the steps
   * @throws RuntimeException the first other failure, after the last step
   */
  public static void all(Iterable<? extends Runnable> steps) {
    RuntimeException failure = null;
    for (Runnable step : steps) {
      try {
        step.run();
      } catch (FatalDeviceException e) {
        LOG.debug("A lost device cannot release a resource", e);
      } catch (RuntimeException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  /**
   * Runs all steps after a failure. Their own failures are added to it as suppressed.
   *
   * @param failure the failure, which the caller rethrows
   * @param steps the steps
   */
  public static void after(Throwable failure, Iterable<? extends Runnable> steps) {
    try {
      all(steps);
    } catch (RuntimeException e) {
      failure.addSuppressed(e);
    }
  }
}
