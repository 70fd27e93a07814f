package io.kvasir.route;

import io.kvasir.pool.BlockPool;

/**
 * Wrong on purpose: a router sees a pool.
 *
 * @param pool what belongs downstream
 */
public record RouterThatLeases(BlockPool pool) {}
