package io.kvasir.fleet.router;

import java.util.function.IntConsumer;

/**
 * A prompt that may still be encoded: it is decoded when a policy reads it, and only as far as the
 * policy needs it.
 *
 * <p>Thread-safe. An implementation may refuse to decode, with an exception of its own; policies
 * read prompts before they change anything, and outside their locks.
 */
public interface PromptSource {

  /** The forms of a prompt. */
  enum Form {
    /** {@link Prompt.Texts}. */
    TEXTS,
    /** {@link Prompt.Chat}. */
    CHAT,
    /** {@link Prompt.Tokens}. */
    TOKENS
  }

  /** Turns of a conversation. */
  enum Turn {
    /** A chat that holds no answer of the model. */
    FIRST,
    /** A chat that holds one. */
    FURTHER,
    /** Not shown by the form of the prompt. */
    UNKNOWN
  }

  /** {@return the form of the prompt, known without decoding it} */
  Form form();

  /** {@return the whole prompt; O(bytes) for the first call} */
  Prompt prompt();

  /**
   * Passes on each text of the prompt; a chat is one text, the one of {@link Prompt#text()}.
   * O(bytes).
   *
   * @param sink receives the texts, at least one
   * @throws IllegalStateException if the prompt is given as tokens
   */
  void forEachText(TextSink sink);

  /**
   * Passes on the code points of {@link Prompt#text()} in order, without making the text.
   * O(characters).
   *
   * @param each receives one code point
   * @throws IllegalStateException if the prompt is given as tokens
   */
  default void forEachCodePoint(IntConsumer each) {
    forEachText(new CodePoints(each));
  }

  /**
   * {@return which turn of its conversation the prompt is, by its form: chats that share a long
   * instruction are not one conversation. O(bytes) for the first call}
   */
  default Turn turn() {
    return Turn.UNKNOWN;
  }
}
