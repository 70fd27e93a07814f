/**
 * API keys of clients: their file, what each key may use, and what it has used in the last minute.
 * {@link io.kvasir.gateway.keys.KeyRing} finds the key that a request presents; {@link
 * io.kvasir.gateway.keys.KeyUse} counts. Knows nothing of workers and bodies. No text that is made
 * here repeats a key.
 */
@NullMarked
package io.kvasir.gateway.keys;

import org.jspecify.annotations.NullMarked;
