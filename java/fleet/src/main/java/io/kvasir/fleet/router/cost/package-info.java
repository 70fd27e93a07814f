/**
 * Dynamo's cost: policies that weigh matches against load as Dynamo's KV router does.
 *
 * <p>{@link io.kvasir.fleet.router.cost.CostSelector} is the selector of the policies {@code cost}
 * and {@code approximate}, which differ in their index. {@link
 * io.kvasir.fleet.router.cost.PolledRouter} goes by polled metrics instead.
 */
@NullMarked
package io.kvasir.fleet.router.cost;

import org.jspecify.annotations.NullMarked;
