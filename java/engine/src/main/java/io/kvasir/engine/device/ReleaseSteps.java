package io.kvasir.engine.device;

import io.kvasir.model.Errors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs all release steps even if some fail. Stateless. */
public final class ReleaseSteps {

  private static final Logger LOG = LoggerFactory.getLogger(ReleaseSteps.class);

  /** Attempts to wait, because a driver may refuse a call for a moment. */
  private static final int ATTEMPTS = 3;

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
   * Waits until a stream has no pending work, then runs all steps as {@link #all} does. If the work
   * may still run, because the device is lost or does not respond, no step runs: what the work may
   * use stays allocated until the device's context ends. Waits a limited time.
   *
   * @param device the device
   * @param stream the stream whose work uses what the steps release; a step may close it
   * @param steps the steps
   * @throws RuntimeException the first failure of a step, after the last step
   */
  public static void onceIdle(
      DeviceApi device, DeviceApi.Stream stream, Iterable<? extends Runnable> steps) {
    if (idle(device, stream)) {
      all(steps);
    }
  }

  private static boolean idle(DeviceApi device, DeviceApi.Stream stream) {
    String reason = "its work does not end";
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      try {
        if (device.trySynchronize(stream, DeviceApi.PATIENCE_NS)) {
          return true;
        }
        break;
      } catch (FatalDeviceException e) {
        LOG.debug("A lost device cannot release a resource", e);
        return false;
      } catch (RetryableDeviceException e) {
        reason = Errors.reason(e);
      }
    }
    LOG.warn("{} keeps memory that its work may use: {}", device.device().label(), reason);
    return false;
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
