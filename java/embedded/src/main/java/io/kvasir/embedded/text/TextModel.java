package io.kvasir.embedded.text;

import java.util.List;

/**
 * A language model in this process that continues one prompt at a time.
 *
 * <p>All methods are thread-safe, except that {@link #generate} and the generation that it returns
 * belong to one thread.
 */
public interface TextModel extends AutoCloseable {

  /** {@return the name under which it is served} */
  String name();

  /** {@return most tokens of a prompt and its answer together} */
  int maxModelLen();

  /** {@return number of different tokens; ids run from 0} */
  int vocabularySize();

  /**
   * Makes the tokens of a prompt, including a leading token if the model wants one. O(characters).
   *
   * @param text the prompt
   * @return its tokens
   */
  int[] tokens(String text);

  /**
   * Makes the text of tokens. O(tokens).
   *
   * @param tokens ids within the vocabulary
   * @return their text
   */
  String text(int[] tokens);

  /**
   * Renders a conversation with the model's own template.
   *
   * @param messages the conversation
   * @param withAnswer whether the prompt ends with the head of an answer
   * @return the prompt
   */
  String chatPrompt(List<ChatMessage> messages, boolean withAnswer);

  /**
   * Starts to continue a prompt. The generation before it must be closed.
   *
   * @param request the prompt, which fits {@link #maxModelLen}, and how to continue it
   * @return the generation; the caller closes it
   * @throws RuntimeException if the model fails
   */
  TextGeneration generate(TextRequest request);

  /** Releases the model. The last generation must be closed. */
  @Override
  void close();

  /**
   * A message of a conversation. Immutable.
   *
   * @param role for example {@code user}
   * @param content its text
   */
  record ChatMessage(String role, String content) {}
}
