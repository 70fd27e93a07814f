/**
 * GGUF models as OpenAI engines of this process, computed by llama.cpp through {@code
 * de.kherud:llama}. Each engine is one llama.cpp slot with one thread and the KV of its last
 * request. Text, tokens and prefix cache are real.
 *
 * <p>The command line finds this package through {@link java.util.ServiceLoader}; no other package
 * depends on it.
 */
@NullMarked
package io.kvasir.llama;

import org.jspecify.annotations.NullMarked;
