/**
 * Prefill and decode on engines of their own: the messages of stand-ins with roles to routers and
 * to each other.
 *
 * <p>{@link io.kvasir.embedded.disagg.Disagg} finds the requests that are legs, by the fields of
 * one {@code Dialect}. A prefill leg pins its blocks and puts them into {@code OutgoingTransfers},
 * where the decode leg's engine asks for them over HTTP; the transfer takes modelled time. Knows no
 * formulas of routers.
 *
 * <p>Tests: {@code NixlLegsTest}, {@code TrtllmLegsTest}, {@code BootstrapLegsTest}, {@code
 * ConcurrentLegsTest}, {@code CrowdedPoolsTest}, {@code LegsUnderLoadTest}.
 */
@NullMarked
package io.kvasir.embedded.disagg;

import org.jspecify.annotations.NullMarked;
