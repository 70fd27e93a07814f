package io.kvasir.select;

import java.util.concurrent.CompletableFuture;

/** An outcome that is to be told once the scheduler's lock is free. */
record Settled(CompletableFuture<SelectionOutcome> future, SelectionOutcome outcome) {}
