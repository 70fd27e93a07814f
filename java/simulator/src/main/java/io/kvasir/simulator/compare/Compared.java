package io.kvasir.simulator.compare;

import io.kvasir.engine.adp.AdpRouterKind;

/**
 * What one router made of one load.
 *
 * <p>Immutable.
 *
 * @param router the router
 * @param ttftP95Ms first token, 95 % are not later, in milliseconds
 * @param ttftMeanMs mean time to first token
 * @param tokenHitRate share of prompt tokens that came from cache
 * @param routedCv how unevenly requests were spread over the ranks
 * @param prefillShare share of the time in which some rank prefilled
 */
public record Compared(
    AdpRouterKind router,
    Estimate ttftP95Ms,
    Estimate ttftMeanMs,
    Estimate tokenHitRate,
    Estimate routedCv,
    Estimate prefillShare) {}
