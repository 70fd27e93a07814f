/**
 * The gateway's own records: metrics, the access log, the last decisions, and the recording of
 * traffic. {@link io.kvasir.gateway.observe.LastResort} handles the end of a thread that must live.
 */
@NullMarked
package io.kvasir.gateway.observe;

import org.jspecify.annotations.NullMarked;
