/**
 * Compares ADP routers and fleet routers under load. Every router gets the same requests, with
 * several seeds, so that real differences can be distinguished from chance.
 *
 * <p>Built on {@link io.kvasir.simulator.replay}; independent of options and report formats.
 */
@NullMarked
package io.kvasir.simulator.compare;

import org.jspecify.annotations.NullMarked;
