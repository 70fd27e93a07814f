package io.kvasir.simulator.workload;

import io.kvasir.model.Request;
import io.kvasir.simulator.trace.TokenExpansion;
import java.util.Arrays;

/**
 * A growing conversation: each prompt is everything asked and answered so far, with the actual
 * answers, and new input behind it.
 *
 * <p>Not thread-safe.
 */
final class Dialogue {

  private final SessionScript session;
  private final String conversationId;
  private final long firstId;
  private int[] history;
  private int answeredTokens;
  private int asked;
  private int firstPrompt;

  /**
   * Begins a conversation.
   *
   * @param session its session
   * @param conversationId the id in its requests
   * @param firstId the id of its first request; the next ones follow
   * @param head the tokens with which each prompt begins
   * @param answeredTokens how many of them another dialogue has had computed
   */
  Dialogue(
      SessionScript session, String conversationId, long firstId, int[] head, int answeredTokens) {
    this.session = session;
    this.conversationId = conversationId;
    this.firstId = firstId;
    this.history = head;
    this.answeredTokens = answeredTokens;
  }

  SessionScript session() {
    return session;
  }

  long firstId() {
    return firstId;
  }

  /** Number of requests so far. */
  int asked() {
    return asked;
  }

  /** Leading tokens of the next prompt whose KV exists: the whole history except its last token. */
  int answeredTokens() {
    return answeredTokens;
  }

  /** Length of the first prompt in tokens; 0 before it. */
  int firstPrompt() {
    return firstPrompt;
  }

  /** The tokens of the conversation so far. The caller does not modify them. */
  int[] history() {
    return history;
  }

  /**
   * Creates the next request.
   *
   * @param seed seed of the workload
   * @param newTokens length of the new input
   * @param maxNewTokens length of the answer
   */
  Request ask(long seed, int newTokens, int maxNewTokens) {
    long id = firstId + asked;
    int[] prompt = Arrays.copyOf(history, Math.addExact(history.length, newTokens));
    TokenExpansion.fill(Content.USER_TURN.seed(seed, id), prompt, history.length, prompt.length);
    firstPrompt = asked == 0 ? prompt.length : firstPrompt;
    history = prompt;
    return Request.builder(id, prompt)
        .maxNewTokens(maxNewTokens)
        .conversationId(conversationId)
        .firstTurn(asked++ == 0)
        .build();
  }

  /** Appends the answer to the history. */
  void answered(int[] outputTokens) {
    int prompt = history.length;
    history = Arrays.copyOf(history, prompt + outputTokens.length);
    System.arraycopy(outputTokens, 0, history, prompt, outputTokens.length);
    answeredTokens = history.length - 1;
  }
}
