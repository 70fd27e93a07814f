/** The tokens of prompts: how engines are asked for them, and the answers that are kept. */
@NullMarked
package io.kvasir.gateway.tokens;

import org.jspecify.annotations.NullMarked;
