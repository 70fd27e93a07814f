/** Tokens of requests from a model's own files, for the gateway. */
@NullMarked
package io.kvasir.tokens;

import org.jspecify.annotations.NullMarked;
