package io.kvasir.gateway.tokens;

/**
 * The tokens of one prompt that this process has made. Immutable by contract: the array is not
 * copied.
 *
 * @param ids the tokens; those behind the exact ones only stand for as many
 * @param exact how many at the beginning are the engine's: all, unless the prompt has images or
 *     other content that is no text
 */
@SuppressWarnings("ArrayRecordComponent") // value semantics of the array are never used
public record OwnPrompt(int[] ids, int exact) {

  /**
   * {@return the tokens of a prompt of text}
   *
   * @param ids all of them
   */
  public static OwnPrompt of(int[] ids) {
    return new OwnPrompt(ids, ids.length);
  }

  /** Whether all tokens are the engine's. */
  boolean isExact() {
    return exact == ids.length;
  }
}
