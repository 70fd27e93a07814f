/** Continuous checks of what the gateway assumes of engines: tokens, steering, predicted hits. */
@NullMarked
package io.kvasir.gateway.verify;

import org.jspecify.annotations.NullMarked;
