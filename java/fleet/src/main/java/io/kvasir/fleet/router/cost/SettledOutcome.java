package io.kvasir.fleet.router.cost;

import java.util.concurrent.CompletableFuture;

/** An outcome that is to be told once the scheduler's lock is free. */
record SettledOutcome(CompletableFuture<SelectionOutcome> future, SelectionOutcome outcome) {}
