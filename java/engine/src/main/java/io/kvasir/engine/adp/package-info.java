/**
 * Which rank serves which request.
 *
 * <p>A {@link io.kvasir.engine.adp.AdpRouter} places a batch of requests on the ranks of one
 * worker. It runs redundantly in every rank's process and the result is never broadcast, so it must
 * be a pure function of the gathered states, the requests, their matches and router state that
 * evolves identically everywhere: no clock, no iteration in hash order, no randomness that is not
 * seeded by a request id. {@link io.kvasir.engine.adp.AdpRouterKind} names the routers there are
 * and makes them. The package knows nothing of pools, executors or time.
 */
package io.kvasir.engine.adp;
