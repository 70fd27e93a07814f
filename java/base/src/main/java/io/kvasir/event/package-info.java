/**
 * What changed in the blocks that a rank holds: {@link io.kvasir.event.BlockEvent}, the one form
 * for Kvasir's own pools, foreign engines, indexes and recordings. Applying a rank's events to an
 * empty index reproduces the rank's matches. Events know neither their source nor their sinks.
 */
@NullMarked
package io.kvasir.event;

import org.jspecify.annotations.NullMarked;
