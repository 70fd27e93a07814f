/**
 * The layer above the workers of a replay: {@link io.kvasir.simulator.fleet.FleetSettings} holds
 * the number of workers and their fleet router, and {@link io.kvasir.simulator.fleet.FleetLayer}
 * runs that router with realistic delays of block events and polled metrics.
 *
 * <p>The router is production code and receives only the inputs that it would receive from real
 * engines. Package {@code replay} drives the layer.
 */
@NullMarked
package io.kvasir.simulator.fleet;

import org.jspecify.annotations.NullMarked;
