package io.kvasir.embedded.api;

import io.kvasir.embedded.api.SequenceListener.Start;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One choice of a reply, as far as it is complete.
 *
 * <p>Confined to the request's event loop.
 */
public final class ReplyChoice {

  private final int number;
  private final boolean firstOfPrompt;
  private final int promptTokens;
  private final AnswerText answer;
  private final StringBuilder text = new StringBuilder();
  private int tokens;
  private @Nullable Start start;

  /**
   * Creates a choice without tokens.
   *
   * @param number its number in the reply, from 0
   * @param firstOfPrompt whether it is the first choice of its prompt, which counts the prompt's
   *     tokens
   * @param promptTokens tokens of its prompt
   * @param answer its text
   */
  public ReplyChoice(int number, boolean firstOfPrompt, int promptTokens, AnswerText answer) {
    this.number = number;
    this.firstOfPrompt = firstOfPrompt;
    this.promptTokens = promptTokens;
    this.answer = answer;
  }

  void start(Start where) {
    start = where;
  }

  /** Adds the next token; returns its text, which may be empty. */
  String addToken() {
    String piece = answer.piece(tokens++);
    text.append(piece);
    return piece;
  }

  int number() {
    return number;
  }

  /** The text so far. */
  public String text() {
    return text.toString();
  }

  /** Tokens so far. */
  int tokens() {
    return tokens;
  }

  /** Where it runs; null before it has started. */
  @Nullable Start start() {
    return start;
  }

  /** OpenAI's reason why it ended. */
  String finishReason() {
    return answer.complete() ? "stop" : "length";
  }

  /** {@return whether the choice has ended} */
  public boolean complete() {
    return answer.complete();
  }

  /** The stop string that ended it; null if none did. */
  public @Nullable String stop() {
    return answer.stop();
  }

  /**
   * Token counts of a request.
   *
   * @param prompt tokens of the prompts, each counted once
   * @param cached prompt tokens that were in the pools when the first choice of each prompt started
   * @param output tokens of all choices
   */
  public record Usage(int prompt, int cached, int output) {

    int total() {
      return prompt + output;
    }
  }

  /** The token counts of choices. */
  public static Usage usage(List<ReplyChoice> choices) {
    int prompt = 0;
    int cached = 0;
    int output = 0;
    for (ReplyChoice choice : choices) {
      output += choice.tokens;
      if (choice.firstOfPrompt) {
        prompt += choice.promptTokens;
        Start start = choice.start;
        cached += start == null ? 0 : start.matchedTokens();
      }
    }
    return new Usage(prompt, cached, output);
  }
}
