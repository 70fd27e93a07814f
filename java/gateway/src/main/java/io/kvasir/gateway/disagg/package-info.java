/**
 * Prefill and decode on different workers: the fields of both legs of a request in the protocol of
 * each engine, and the parameters that the first leg's answer hands over to the second.
 */
@NullMarked
package io.kvasir.gateway.disagg;

import org.jspecify.annotations.NullMarked;
