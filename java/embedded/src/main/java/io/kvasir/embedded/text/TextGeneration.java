package io.kvasir.embedded.text;

import org.jspecify.annotations.Nullable;

/** An answer that grows. Confined to one thread. */
public interface TextGeneration extends AutoCloseable {

  /** {@return leading tokens of the prompt whose KV the model still has} */
  int matchedTokens();

  /**
   * Waits for the next part of the answer.
   *
   * @return the part; null at the end of the answer
   * @throws RuntimeException if the model fails
   */
  @Nullable Piece next();

  /** Ends the generation. If the answer is not complete, the model stops computing it. */
  @Override
  void close();

  /**
   * A part of an answer. Immutable.
   *
   * @param text its text, which may be empty
   * @param tokens its number of tokens, at least 1
   */
  record Piece(String text, int tokens) {}
}
