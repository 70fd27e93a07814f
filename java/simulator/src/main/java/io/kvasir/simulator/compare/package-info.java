/**
 * Compares ADP routers under load: the same requests at the same speeds, with jittered arrivals, so
 * that what is chance can be told from what is not.
 *
 * <p>Built on {@link io.kvasir.simulator.replay}; knows nothing of options or of how results are
 * shown.
 */
package io.kvasir.simulator.compare;
