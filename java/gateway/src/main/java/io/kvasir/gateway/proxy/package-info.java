/** The path of one request: its body, its attempts, and the reply to the client. */
@NullMarked
package io.kvasir.gateway.proxy;

import org.jspecify.annotations.NullMarked;
