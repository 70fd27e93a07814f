package io.kvasir.engine.device;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Gives several things back, each of them whatever becomes of the others. Stateless. */
public final class ReleaseSteps {

  private static final Logger LOG = LoggerFactory.getLogger(ReleaseSteps.class);

  private ReleaseSteps() {}

  /**
   * Takes all steps in order. A lost device is no error: it has taken with it what was on it.
   *
   * @throws RuntimeException the first other one, after the last step
   */
  public static void all(Iterable<? extends Runnable> steps) {
    RuntimeException failure = null;
    for (Runnable step : steps) {
      try {
        step.run();
      } catch (FatalDeviceException e) {
        LOG.debug("Something went with its device", e);
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

  /** The same because of a failure, which stays the one to be told. */
  public static void after(Throwable failure, Iterable<? extends Runnable> steps) {
    try {
      all(steps);
    } catch (RuntimeException e) {
      failure.addSuppressed(e);
    }
  }
}
