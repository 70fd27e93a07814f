/**
 * Builders for tests of block pools: prompts, hashes that collide on purpose, scenarios and random
 * use.
 */
package io.kvasir.testing.pool;
