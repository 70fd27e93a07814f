/**
 * What other policies would have done with the same requests: their choices, what ranks with caches
 * of their own would have held, and when these would have given the first tokens.
 */
@NullMarked
package io.kvasir.fleet.router.whatif;

import org.jspecify.annotations.NullMarked;
