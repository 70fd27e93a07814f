package io.kvasir.tokens.tokenizer;

import org.jspecify.annotations.Nullable;

/**
 * A tokenizer whose result is the concatenation of the results of segments, if {@link #cuts} says
 * where to cut. Thread-safe.
 */
abstract class SegmentableTokenizer implements ModelTokenizer {

  private final String digest;

  SegmentableTokenizer(String digest) {
    this.digest = digest;
  }

  @Override
  public final String digest() {
    return digest;
  }

  @Override
  public final int[] encode(String text, boolean addSpecialTokens) throws TokenizerException {
    return encodeBounded(prepare(text), addSpecialTokens, Long.MAX_VALUE);
  }

  /**
   * Tokenizes as {@link #encodeWhole}, within the bound of the process.
   *
   * @param prepared as there
   * @param addSpecialTokens as there
   * @param waitNs the time to wait for other texts; none if negative
   * @return its ids
   * @throws TokenizerException as there, or if other texts took too long
   */
  final int[] encodeBounded(String prepared, boolean addSpecialTokens, long waitNs)
      throws TokenizerException {
    int bytes = WellFormed.utf8Bytes(prepared, 0, prepared.length());
    BytesInFlight.PROCESS.acquire(bytes, waitNs);
    try {
      return encodeWhole(prepared, addSpecialTokens);
    } finally {
      BytesInFlight.PROCESS.release(bytes);
    }
  }

  /**
   * What happens to a whole text before it is cut.
   *
   * @param text any text
   * @return well-formed UTF-16, normalised where the tokenizer normalises the text as a whole
   * @throws TokenizerException if the text is too long
   */
  final String prepare(String text) throws TokenizerException {
    if (text.length() > MAX_CHARS) {
      throw new TokenizerException(
          "a text of " + text.length() + " characters exceeds the limit of " + MAX_CHARS);
    }
    String wellFormed = WellFormed.of(text);
    checkBytes(wellFormed);
    String normalized = normalize(wellFormed);
    if (!normalized.equals(wellFormed)) {
      checkBytes(normalized);
    }
    return normalized;
  }

  private static void checkBytes(String text) throws TokenizerException {
    int bytes = WellFormed.utf8Bytes(text, 0, text.length());
    if (bytes > MAX_BYTES) {
      throw new TokenizerException(
          "a text of " + bytes + " bytes of UTF-8 exceeds the limit of " + MAX_BYTES);
    }
  }

  /**
   * What happens to a whole text before added tokens are found.
   *
   * @param text well-formed text
   * @return the normalised text
   * @throws TokenizerException if it cannot be normalised
   */
  String normalize(String text) throws TokenizerException {
    return text;
  }

  /**
   * Tokenizes a prepared text, or a segment of one, at once.
   *
   * @param prepared a result of {@link #prepare}, or a part of it that begins and ends at a cut
   * @param addSpecialTokens whether to add BOS and EOS
   * @return its ids
   * @throws TokenizerException if the model cannot represent it
   */
  abstract int[] encodeWhole(String prepared, boolean addSpecialTokens) throws TokenizerException;

  /** {@return the ids that are added in front of and behind each text, if texts may be cut} */
  abstract Frame frame();

  /** {@return the tokens at whose beginnings a text may be cut, or null if it must not be cut} */
  abstract @Nullable AddedTokens cuts();

  /** {@return why a text must not be cut; empty if it may be} */
  abstract String uncutReason();

  /**
   * The ids that a post-processor adds.
   *
   * @param before in front of a text; not changed
   * @param after behind it; not changed
   */
  @SuppressWarnings("ArrayRecordComponent") // compared with nothing, and never changed
  record Frame(int[] before, int[] after) {

    /** Adds nothing. */
    static final Frame NONE = new Frame(new int[0], new int[0]);

    /**
     * Adds them.
     *
     * @param ids the ids of a text
     * @return the framed ids; the same array if nothing is added
     */
    int[] around(int[] ids) {
      if (before.length + after.length == 0) {
        return ids;
      }
      int[] framed = new int[before.length + ids.length + after.length];
      System.arraycopy(before, 0, framed, 0, before.length);
      System.arraycopy(ids, 0, framed, before.length, ids.length);
      System.arraycopy(after, 0, framed, before.length + ids.length, after.length);
      return framed;
    }
  }
}
