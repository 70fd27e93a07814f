/**
 * Request traces: files of arrivals, lengths and, in Mooncake's format, block ids that say which
 * prompts share a prefix.
 *
 * <p>{@link io.kvasir.simulator.trace.TraceReader} reads and validates a file into a {@link
 * io.kvasir.simulator.trace.Trace}; {@link io.kvasir.simulator.trace.TokenExpansion} turns its ids
 * into real tokens; {@link io.kvasir.simulator.trace.Conversations} guesses who talks on. The
 * package knows nothing of time passing, of replays or of reports.
 */
package io.kvasir.simulator.trace;
