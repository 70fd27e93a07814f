/** What the gateway says of itself: metrics and the access log. */
@NullMarked
package io.kvasir.gateway.observe;

import org.jspecify.annotations.NullMarked;
