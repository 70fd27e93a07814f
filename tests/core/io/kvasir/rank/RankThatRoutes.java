package io.kvasir.rank;

import io.kvasir.route.AdpRouter;

/**
 * Wrong on purpose: rank and route import each other.
 *
 * @param router what belongs downstream
 */
public record RankThatRoutes(AdpRouter router) {}
