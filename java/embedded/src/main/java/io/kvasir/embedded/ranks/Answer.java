package io.kvasir.embedded.ranks;

import io.kvasir.embedded.api.AnswerText;
import io.kvasir.embedded.api.GenerationOptions;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a prompt: words drawn from the engine's seed, the prompt, the request's seed and
 * the number of the choice. Equal inputs give equal answers on every rank and engine.
 *
 * <p>The whole answer is determined before it is computed, so its length is the number of tokens
 * that the ranks compute. It ends by itself after {@link #MIN_TOKENS} to {@link #MAX_TOKENS}
 * tokens, earlier at a stop string or at the request's maximum.
 *
 * <p>Immutable.
 */
final class Answer implements AnswerText {

  /** Fewest tokens of an answer that ends by itself. */
  static final int MIN_TOKENS = 16;

  /** Most tokens of an answer that ends by itself. */
  static final int MAX_TOKENS = 256;

  private static final long LENGTH = -1;

  private final long state;
  private final int tokens;
  private final boolean complete;
  private final @Nullable String stop;

  /** The last token with text, and the number of its characters before the stop string. */
  private final int cutToken;

  private final int cutChars;

  private Answer(
      long state, int tokens, boolean complete, @Nullable String stop, int cutToken, int cutChars) {
    this.state = state;
    this.tokens = tokens;
    this.complete = complete;
    this.stop = stop;
    this.cutToken = cutToken;
    this.cutChars = cutChars;
  }

  /**
   * Determines an answer. O(prompt tokens); with stop strings also O(answer tokens).
   *
   * @param seed the engine's seed
   * @param prompt the prompt's tokens
   * @param choice the number of the choice among those of the request
   * @param options the request's limits
   */
  static Answer of(long seed, int[] prompt, int choice, GenerationOptions options) {
    long state = Mix.of(Mix.of(Mix.ofTokens(seed, prompt), options.seed()), choice);
    int own = MIN_TOKENS + Mix.below(Mix.of(state, LENGTH), MAX_TOKENS - MIN_TOKENS + 1);
    own = Math.max(own, options.minTokens());
    boolean complete = !options.ignoreEos() && own <= options.maxTokens();
    int tokens = complete ? own : options.maxTokens();
    Answer whole = new Answer(state, tokens, complete, null, tokens, 0);
    return options.stops().isEmpty()
        ? whole
        : whole.stoppedAt(options.stops(), options.minTokens());
  }

  private Answer stoppedAt(List<String> stops, int minTokens) {
    StringBuilder text = new StringBuilder();
    int longest = stops.stream().mapToInt(String::length).max().orElse(0);
    for (int i = 0; i < tokens; i++) {
      int from = Math.max(0, text.length() - longest + 1);
      text.append(piece(i));
      if (i + 1 < minTokens) {
        continue;
      }
      int at = Integer.MAX_VALUE;
      String found = null;
      for (String stop : stops) {
        int here = text.indexOf(stop, from);
        if (here >= 0 && here < at) {
          at = here;
          found = stop;
        }
      }
      if (found != null) {
        return cut(i + 1, found, at);
      }
    }
    return this;
  }

  /** This answer, ended after some tokens by a stop string that begins at a character. */
  private Answer cut(int newTokens, String found, int at) {
    int token = 0;
    int before = 0;
    while (before + piece(token).length() <= at) {
      before += piece(token++).length();
    }
    return new Answer(state, newTokens, true, found, token, at - before);
  }

  /** Number of tokens, at least 1. */
  int tokens() {
    return tokens;
  }

  @Override
  public boolean complete() {
    return complete;
  }

  @Override
  public @Nullable String stop() {
    return stop;
  }

  /** The token at an index. O(1). */
  int token(int index) {
    return WordVocabulary.FIRST + Mix.below(Mix.of(state, index), WordVocabulary.count());
  }

  /** The text of the token at an index, without what follows a stop string. O(1). */
  @Override
  public String piece(int index) {
    if (index > cutToken) {
      return "";
    }
    String text = WordVocabulary.text(token(index));
    String shown = index == 0 ? text.substring(1) : text;
    return index == cutToken ? shown.substring(0, cutChars) : shown;
  }
}
