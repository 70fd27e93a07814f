package io.kvasir.llama;

import io.kvasir.embedded.text.TextGeneration.Piece;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/**
 * The tokens whose KV a slot holds: those of its last request.
 *
 * <p>The binding has no count of cached tokens. llama.cpp keeps the longest common prefix of the
 * slot's tokens and the next prompt, so the count follows from both. Prompts are known token by
 * token. Answers are known by the text of their parts, which is compared with the text of the next
 * prompt's tokens; where a text has several tokenizations the count can differ by a few tokens.
 *
 * <p>Confined to the slot's thread.
 */
final class SlotCache {

  private final Function<int[], String> texts;
  private final List<Piece> answer = new ArrayList<>();
  private int[] prompt = {};

  /**
   * Creates an empty cache.
   *
   * @param texts makes the text of tokens
   */
  SlotCache(Function<int[], String> texts) {
    this.texts = texts;
  }

  /**
   * Starts a request. O(prompt).
   *
   * @return leading tokens of its prompt that the slot still has
   */
  int start(int[] next) {
    int matched = Math.min(matchedTokens(next), next.length - 1); // one is needed for the logits
    prompt = next;
    answer.clear();
    return matched;
  }

  /** Adds a part of the request's answer. */
  void add(Piece piece) {
    answer.add(piece);
  }

  private int matchedTokens(int[] next) {
    int first = Arrays.mismatch(prompt, next);
    if (first < 0) {
      return next.length;
    }
    if (first < prompt.length) {
      return first;
    }
    int matched = prompt.length;
    int held = prompt.length - 1; // the last token of an answer has no KV yet
    for (Piece piece : answer) {
      held += piece.tokens();
    }
    for (Piece piece : answer) {
      int end = Math.min(next.length, matched + piece.tokens());
      if (piece.text().isEmpty()
          || !texts.apply(Arrays.copyOfRange(next, matched, end)).equals(piece.text())) {
        break;
      }
      matched = end;
    }
    return Math.min(matched, Math.max(held, prompt.length));
  }
}
