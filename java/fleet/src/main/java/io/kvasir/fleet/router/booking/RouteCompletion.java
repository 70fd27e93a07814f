package io.kvasir.fleet.router.booking;

import io.kvasir.fleet.router.RouteOutcome;
import java.util.concurrent.CompletableFuture;

/**
 * An outcome that is delivered once the router's lock is free.
 *
 * @param matched the request
 * @param future completes with the outcome
 * @param outcome a placement or a refusal
 */
record RouteCompletion(
    MatchedRequest matched, CompletableFuture<RouteOutcome> future, RouteOutcome outcome) {}
