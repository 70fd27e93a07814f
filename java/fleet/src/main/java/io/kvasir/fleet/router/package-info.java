/**
 * The choice of the worker and rank that serve a request, for engines that Kvasir does not run.
 *
 * <p>{@link io.kvasir.fleet.router.FleetRouter} is the port: one {@link
 * io.kvasir.fleet.router.FleetRequest} in, one {@link io.kvasir.fleet.router.Placement}, wait or
 * {@link io.kvasir.fleet.router.Refusal} out. {@link io.kvasir.fleet.router.FleetRouterProvider} is
 * the place to plug in a policy, and {@link io.kvasir.fleet.router.FleetRouterKind} finds policies
 * by name. Package {@code cost} weighs matches against predicted load as Dynamo's router does;
 * package {@code trtllm} contains the routers of TensorRT-LLM's disaggregated server.
 *
 * <p>The packages start no thread, read no clock but the injected one, and contain no HTTP.
 */
@NullMarked
package io.kvasir.fleet.router;

import org.jspecify.annotations.NullMarked;
