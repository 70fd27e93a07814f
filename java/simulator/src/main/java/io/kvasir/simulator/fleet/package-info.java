/**
 * The layer above the workers of a replay: {@link io.kvasir.simulator.fleet.FleetSettings} says how
 * many workers there are and which fleet router chooses among them, and {@link
 * io.kvasir.simulator.fleet.FleetLayer} runs that router, with the delays that block events and
 * polled metrics have in front of real engines.
 *
 * <p>The router is production code; it sees nothing that it would not see in front of real engines.
 * Package {@code replay} drives the layer.
 */
package io.kvasir.simulator.fleet;
