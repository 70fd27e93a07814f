/**
 * Compares ADP routers, and selectors of workers, under load: the same requests for all of them,
 * with several seeds, so that what is chance can be told from what is not.
 *
 * <p>Built on {@link io.kvasir.simulator.replay}; knows nothing of options or of how results are
 * shown.
 */
package io.kvasir.simulator.compare;
