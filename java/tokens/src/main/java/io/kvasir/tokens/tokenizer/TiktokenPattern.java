package io.kvasir.tokens.tokenizer;

import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * How the words of a tiktoken file are found. Immutable.
 *
 * <p>The expressions have the meaning of Rust's {@code regex}, which tiktoken uses, in Java's
 * notation: {@code \s} is the Unicode property White_Space; letters compare without case as Unicode
 * says, so {@code 'ſ} counts as {@code 's}; classes are closed (possessive where nothing can be
 * given back), so no input backtracks more than its length. Letters that Unicode has assigned after
 * the version of this JDK count as unassigned.
 */
enum TiktokenPattern {
  /** GPT-4's, and Llama 3's. */
  CL100K(
      Parts.CONTRACTION
          + "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}++|\\p{N}{1,3}+"
          + "| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+"
          + Parts.SPACES),

  /** GPT-4o's. */
  O200K(
      Parts.CASED.replace("HAN", "")
          + "|\\p{N}{1,3}+| ?[^\\s\\p{L}\\p{N}]++[\\r\\n/]*+"
          + Parts.SPACES),

  /** The first Qwen's; its text is normalised to NFC as a whole. */
  QWEN(
      Parts.CONTRACTION
          + "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}++|\\p{N}"
          + "| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+"
          + Parts.SPACES),

  /** Kimi's: GPT-4o's with words of Han characters; see {@link KimiDivision}. */
  KIMI(
      "\\p{IsHan}++|"
          + Parts.CASED.replace("HAN", "&&[^\\p{IsHan}]")
          + "|\\p{N}{1,3}+| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+"
          + Parts.SPACES);

  private static final int LLAMA_3_TOKENS = 128_000;

  private final Pattern words;

  TiktokenPattern(String expression) {
    words =
        Pattern.compile(
            expression.replace("\\s", "\\p{IsWhite_Space}").replace("\\S", "\\P{IsWhite_Space}"));
  }

  /** {@return the expression whose matches cover every text} */
  Pattern words() {
    return words;
  }

  /**
   * The pattern of a file.
   *
   * @param file its name without folders
   * @param tokenizerClass {@code tokenizer_class} of tokenizer_config.json; may be empty
   * @param tokens how many tokens the file has
   * @return the pattern, or empty if neither names a known one
   */
  static Optional<TiktokenPattern> of(String file, String tokenizerClass, int tokens) {
    String name = file.toLowerCase(Locale.ROOT);
    boolean llama3 = name.equals("tokenizer.model") && tokens == LLAMA_3_TOKENS;
    if (name.startsWith("cl100k") || llama3) {
      return Optional.of(CL100K);
    }
    if (name.startsWith("o200k")) {
      return Optional.of(O200K);
    }
    if (name.equals("qwen.tiktoken") || tokenizerClass.equals("QWenTokenizer")) {
      return Optional.of(QWEN);
    }
    return tokenizerClass.equals("TikTokenTokenizer") ? Optional.of(KIMI) : Optional.empty();
  }

  /** Parts of the expressions. */
  private static final class Parts {

    static final String CONTRACTION = "(?iu:'s|'t|'re|'ve|'m|'ll|'d)";
    static final String SPACES = "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
    static final String CASED =
        "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}HAN]*"
            + "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}HAN]++"
            + CONTRACTION
            + "?|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}HAN]++"
            + "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}HAN]*+"
            + CONTRACTION
            + "?";

    private Parts() {}
  }
}
