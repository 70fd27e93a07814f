/**
 * The way from a request to a booked rank, for policies that predict load.
 *
 * <p>{@link io.kvasir.fleet.router.booking.BookingRouter} matches a request, reads the predicted
 * loads, lets a {@link io.kvasir.fleet.router.booking.RankSelector} choose and books the choice in
 * one step. {@link io.kvasir.fleet.router.booking.RequestQueue} holds the requests that wait for
 * room on the ranks. Refusals are values, and every placement can list the costs that were
 * compared. The package contains no policy, starts no thread, has no transport, and reads no clock
 * but the injected one.
 */
@NullMarked
package io.kvasir.fleet.router.booking;

import org.jspecify.annotations.NullMarked;
