/**
 * Which rank of which worker serves a request, for engines in other processes.
 *
 * <p>A {@link io.kvasir.fleet.router.cost.KvScheduler} takes what the ranks hold from a {@link
 * io.kvasir.fleet.index.PrefixIndex} and what they do from the predicted loads, lets a {@link
 * io.kvasir.fleet.router.cost.WorkerSelector} choose, and books the choice, all in one step. {@link
 * io.kvasir.fleet.router.cost.CostSelector} is the selector it comes with. Refusals are values, and
 * every decision can say what it rests on. The package starts no thread, knows no transport, and
 * reads no clock but the one it is given.
 */
package io.kvasir.fleet.router.cost;
