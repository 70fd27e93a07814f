/**
 * Request traces: files of arrival times, lengths and, in Mooncake's format, block ids that
 * identify shared prefixes.
 *
 * <p>{@link io.kvasir.simulator.trace.TraceReader} reads and validates a file into a {@link
 * io.kvasir.simulator.trace.Trace}; {@link io.kvasir.simulator.trace.TokenExpansion} expands its
 * ids to tokens; {@link io.kvasir.simulator.trace.Conversations} infers which requests continue a
 * conversation. The package does not depend on virtual time, replays or reports.
 */
@NullMarked
package io.kvasir.simulator.trace;

import org.jspecify.annotations.NullMarked;
