/**
 * Lock-step over TCP. Members authenticate each other before they join; docs/lockstep.md describes
 * what the connections promise.
 */
@NullMarked
package io.kvasir.engine.lockstep.tcp;

import org.jspecify.annotations.NullMarked;
