/**
 * Prefill and decode on engines of their own: what stand-ins of engines with roles say to routers
 * and to each other.
 *
 * <p>{@link io.kvasir.embedded.disagg.Disagg} reads which requests are legs, in the words of one
 * {@code Dialect}. A prefill leg pins its blocks and puts them into {@code OutgoingTransfers},
 * where the decode leg's engine asks for them over HTTP; the transfer takes modelled time. Knows no
 * formulas of routers.
 *
 * <p>Tests: {@code NixlLegsTest}, {@code TrtllmLegsTest}, {@code BootstrapLegsTest}, {@code
 * ConcurrentLegsTest}, {@code CrowdedPoolsTest}, {@code LegsUnderLoadTest}.
 */
@NullMarked
package io.kvasir.embedded.disagg;

import org.jspecify.annotations.NullMarked;
