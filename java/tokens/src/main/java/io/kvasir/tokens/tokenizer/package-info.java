/**
 * Token ids of prompts, from the tokenizer files of a model, as its engines compute them.
 *
 * <p>{@link io.kvasir.tokens.tokenizer.ModelTokenizer} opens {@code tokenizer.json} (with Hugging
 * Face's native library) or a tiktoken file (in Java). {@link
 * io.kvasir.tokens.tokenizer.SegmentedTokenizer} keeps the tokens of text between added tokens, so
 * that the next turn of a conversation costs what is new in it. {@link
 * io.kvasir.tokens.tokenizer.TokenizerPool} encodes on threads of its own.
 *
 * <p>The package never downloads anything, and must not know of requests, workers or templates.
 */
@NullMarked
package io.kvasir.tokens.tokenizer;

import org.jspecify.annotations.NullMarked;
