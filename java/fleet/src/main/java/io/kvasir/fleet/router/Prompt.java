package io.kvasir.fleet.router;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;

/**
 * What a client asks for: texts, token sequences or chat messages.
 *
 * <p>Immutable by contract: token arrays are not copied and must not be changed by anyone.
 */
public sealed interface Prompt extends PromptSource {

  @Override
  default Prompt prompt() {
    return this;
  }

  @Override
  default void forEachText(TextSink sink) {
    accept(sink, text());
  }

  private static void accept(TextSink sink, String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    sink.accept(utf8, 0, utf8.length);
  }

  @Override
  default void forEachCodePoint(IntConsumer each) {
    text().codePoints().forEach(each);
  }

  /**
   * The whole prompt as one text: texts joined by line feeds, or one line {@code role:content} per
   * message. O(characters).
   *
   * @return the text
   * @throws IllegalStateException if the prompt is given as tokens
   */
  String text();

  /**
   * One token for each character, a Unicode code point: tokens for callers without a tokenizer.
   * O(characters).
   *
   * @return one sequence for each text, or one for all messages
   * @throws IllegalStateException if the prompt is given as tokens
   */
  default List<int[]> codePoints() {
    return List.of(text().codePoints().toArray());
  }

  /**
   * A completion prompt of one text.
   *
   * @param text the text
   * @return the prompt
   */
  static Prompt of(String text) {
    return new Texts(List.of(text));
  }

  /**
   * A completion prompt of one token sequence.
   *
   * @param tokens its tokens, unsigned 32-bit numbers; not copied
   * @return the prompt
   */
  static Prompt of(int[] tokens) {
    return new Tokens(List.of(tokens));
  }

  /**
   * A completion prompt of texts.
   *
   * @param texts the texts, mostly one
   */
  record Texts(List<String> texts) implements Prompt {

    /** Copies the list. */
    public Texts {
      texts = List.copyOf(texts);
    }

    @Override
    public Form form() {
      return Form.TEXTS;
    }

    @Override
    public String text() {
      return String.join("\n", texts);
    }

    @Override
    public void forEachText(TextSink sink) {
      for (int i = 0; i < texts.size(); i++) {
        if (i > 0) {
          sink.next();
        }
        Prompt.accept(sink, texts.get(i));
      }
    }

    @Override
    public List<int[]> codePoints() {
      return texts.stream().map(text -> text.codePoints().toArray()).toList();
    }
  }

  /**
   * A completion prompt that is tokenised already.
   *
   * @param sequences the token sequences, mostly one; the arrays are not copied
   */
  record Tokens(List<int[]> sequences) implements Prompt {

    /** Copies the list, not the arrays. */
    public Tokens {
      sequences = List.copyOf(sequences);
    }

    @Override
    public Form form() {
      return Form.TOKENS;
    }

    @Override
    public String text() {
      throw new IllegalStateException("the prompt is given as tokens and has no text");
    }
  }

  /**
   * A conversation so far.
   *
   * @param messages its messages, oldest first
   */
  record Chat(List<Message> messages) implements Prompt {

    /** Copies the list. */
    public Chat {
      messages = List.copyOf(messages);
    }

    @Override
    public Form form() {
      return Form.CHAT;
    }

    @Override
    public Turn turn() {
      return messages.stream().anyMatch(message -> message.role().equals(Message.ASSISTANT))
          ? Turn.FURTHER
          : Turn.FIRST;
    }

    @Override
    public String text() {
      return messages.stream()
          .map(message -> message.role() + ":" + message.content())
          .collect(Collectors.joining("\n"));
    }
  }

  /**
   * One message of a conversation.
   *
   * @param role who speaks, for example {@code user}
   * @param content what is said; empty if the message has none
   */
  record Message(String role, String content) {

    /** Role of the model's answers. */
    public static final String ASSISTANT = "assistant";

    /** Takes no role and no content as empty ones. */
    public Message {
      role = role == null ? "" : role;
      content = content == null ? "" : content;
    }
  }
}
