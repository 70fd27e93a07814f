/**
 * Policies that weigh matches against load, as Dynamo's KV router does.
 *
 * <p>{@link io.kvasir.fleet.router.cost.CostRouter} reads the predicted loads, lets a {@link
 * io.kvasir.fleet.router.cost.RankSelector} choose and books the choice in one step; {@link
 * io.kvasir.fleet.router.cost.CostSelector} is the selector of the policies {@code cost} and {@code
 * approximate}. {@link io.kvasir.fleet.router.cost.PolledRouter} goes by polled metrics instead.
 * Refusals are values, and every placement can list the costs that were compared. The package
 * starts no thread, contains no transport, and reads no clock but the injected one.
 */
@NullMarked
package io.kvasir.fleet.router.cost;

import org.jspecify.annotations.NullMarked;
