package io.kvasir.tokens.tokenizer;

import java.nio.file.Path;

/**
 * Turns text into the token ids that an engine computes from the same files. Thread-safe.
 *
 * <p>Added tokens inside the text, such as {@code <|im_end|>}, become their ids, as engines do with
 * a rendered prompt. A surrogate without its pair counts as U+FFFD.
 */
public interface ModelTokenizer extends AutoCloseable {

  /**
   * The longest text, in UTF-16 units. It bounds how far regular expressions can go back, which
   * must stay below a limit at which the native library ends the process.
   */
  int MAX_CHARS = 2 << 20;

  /**
   * The largest text, in bytes of UTF-8, and the most that all tokenizers of a process work on at a
   * time. It bounds their memory: the native library takes some hundred bytes for each of them.
   */
  int MAX_BYTES = 4 << 20;

  /**
   * Opens the tokenizer of a folder or a file: {@code tokenizer.json} if there is one, else {@code
   * tiktoken.model} or {@code *.tiktoken}. Blocks: the files are read, and a {@code tokenizer.json}
   * is tried in a process of its own first, because the native library ends the process on some
   * damaged files. Nothing is downloaded.
   *
   * @param path a folder, or one of these files; {@code tokenizer_config.json} beside it is read
   *     for tiktoken files
   * @return the tokenizer; the caller closes it
   * @throws TokenizerException if the files are missing or damaged, name no known pattern, or the
   *     native library cannot be loaded
   */
  static ModelTokenizer open(Path path) throws TokenizerException {
    return TokenizerFiles.open(path, true);
  }

  /**
   * Tokenizes a text. O(n log n) at worst, n its length; blocks for that long, and at most a second
   * more while other texts take all of {@link #MAX_BYTES}.
   *
   * @param text the text, at most {@link #MAX_CHARS} long, of at most {@link #MAX_BYTES}
   * @param addSpecialTokens whether to add what the model's files say: BOS, EOS
   * @return the token ids; the caller owns the array
   * @throws TokenizerException if the text is too long, the model cannot represent it, or others
   *     took too long
   * @throws IllegalStateException if the tokenizer is closed
   */
  int[] encode(String text, boolean addSpecialTokens) throws TokenizerException;

  /** {@return the SHA-256 of the files that the tokenizer was read from, in hex} */
  String digest();

  /** Waits for calls that have begun. Idempotent. */
  @Override
  void close();
}
