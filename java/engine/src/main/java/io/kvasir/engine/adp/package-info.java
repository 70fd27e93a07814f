/**
 * ADP routers: they choose the rank that serves each request.
 *
 * <p>A {@link io.kvasir.engine.adp.AdpRouter} places a batch of requests on the ranks of one
 * worker. Every process of the worker runs the router itself and the result is never broadcast. A
 * decision must therefore be a pure function of the gathered states, the requests, their matches
 * and router state that evolves identically in every process: no clock, no iteration in hash order,
 * and no randomness except what a request id seeds. {@link io.kvasir.engine.adp.AdpRouterKind}
 * lists the routers and creates them. The package does not depend on executors or on time.
 */
@NullMarked
package io.kvasir.engine.adp;

import org.jspecify.annotations.NullMarked;
