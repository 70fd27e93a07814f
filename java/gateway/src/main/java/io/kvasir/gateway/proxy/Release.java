package io.kvasir.gateway.proxy;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The end of what a request holds. Stateless. */
final class Release {

  private static final Logger LOG = LoggerFactory.getLogger(Release.class);

  private Release() {}

  /** Runs all steps in order, even if some fail. */
  static void all(Runnable... steps) {
    for (Runnable step : steps) {
      try {
        step.run();
      } catch (RuntimeException e) {
        LOG.error("a request could not be ended as a whole", e);
      }
    }
  }
}
