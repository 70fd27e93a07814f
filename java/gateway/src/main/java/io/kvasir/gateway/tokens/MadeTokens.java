package io.kvasir.gateway.tokens;

/**
 * The tokens of one prompt, and their tokenizer. Immutable by contract: the array is not copied.
 *
 * @param ids the tokens
 * @param maker what made them, and when
 */
@SuppressWarnings("ArrayRecordComponent") // value semantics of the array are never used
record MadeTokens(int[] ids, MakerLife maker) {}
