package io.kvasir.fleet.router.trtllm;

import io.kvasir.fleet.router.Prompt;
import java.util.List;

/**
 * Turns prompts into tokens (port).
 *
 * <p>Implementations are thread-safe; routers call them without holding a lock. The tokens must be
 * those that the servers will compute, or no prefix is ever recognised.
 */
public interface Tokenizer {

  /** Takes each character, a Unicode code point, as a token. */
  Tokenizer CODE_POINTS =
      prompt ->
          prompt instanceof Prompt.Texts texts
              ? texts.texts().stream().map(Tokenizer::codePoints).toList()
              : List.of(codePoints(prompt.text()));

  /**
   * Tokenises a prompt.
   *
   * @param prompt texts or chat messages, never tokens
   * @return one sequence per text, or one for all messages
   */
  List<int[]> tokenize(Prompt prompt);

  /**
   * The tokens of a request: those it carries, or else those of its prompt.
   *
   * @param request the request
   * @return one sequence per prompt; not to be changed
   */
  default List<int[]> tokensOf(ServeRequest request) {
    if (request.promptTokenIds() != null) {
      return List.of(request.promptTokenIds());
    }
    return request.prompt() instanceof Prompt.Tokens tokens
        ? tokens.sequences()
        : tokenize(request.prompt());
  }

  private static int[] codePoints(String text) {
    return text.codePoints().toArray();
  }
}
