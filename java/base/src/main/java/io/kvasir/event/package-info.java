/**
 * What changed in a rank's pool: {@link io.kvasir.event.BlockEvent}s with consecutive sequence
 * numbers. Replaying them into an empty index reproduces the pool's matches. The package knows who
 * emits and who listens as little as the events do.
 */
package io.kvasir.event;
