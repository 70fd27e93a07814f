/**
 * Prefill and decode on different workers: what the two legs of a request have in the words of each
 * engine, and what the first leg's answer hands over to the second.
 */
@NullMarked
package io.kvasir.gateway.disagg;

import org.jspecify.annotations.NullMarked;
