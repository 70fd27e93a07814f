/**
 * The predicted load of ranks in other processes.
 *
 * <p>{@link io.kvasir.fleet.load.ActiveSequences} derives the load from the requests that were
 * placed and have not ended; {@link io.kvasir.fleet.load.ReplicatedLoads} adds the requests that
 * other routers report.
 *
 * <p>The package contains no code for matching prefixes, choosing ranks or moving messages.
 */
@NullMarked
package io.kvasir.fleet.load;

import org.jspecify.annotations.NullMarked;
