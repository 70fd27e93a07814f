/**
 * What other policies would have done with the same requests: their choices, and what ranks with
 * caches of their own would have held.
 */
@NullMarked
package io.kvasir.fleet.router.whatif;

import org.jspecify.annotations.NullMarked;
