/**
 * Which rank of which worker serves a request, for engines in other processes.
 *
 * <p>A {@link io.kvasir.select.WorkerSelector} chooses among candidates by what they hold and what
 * they do; {@link io.kvasir.select.CostSelector} weighs the two. The package starts no thread, knows
 * no transport, and reads no clock but the one it is given.
 */
package io.kvasir.select;
