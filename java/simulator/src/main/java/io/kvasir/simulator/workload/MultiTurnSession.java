package io.kvasir.simulator.workload;

import io.kvasir.model.Request;
import io.kvasir.simulator.trace.TokenExpansion;
import java.util.Arrays;

/**
 * One session of {@link MultiTurn}: its history and its own stream of random numbers.
 *
 * <p>Not thread-safe.
 */
final class MultiTurnSession {

  private final MultiTurn.Shape shape;
  private final int index;
  private final SeededRandom random;
  private final int turns;
  private int nextTurn;
  private int[] history = {};
  private int answeredTokens;

  MultiTurnSession(MultiTurn.Shape shape, int index) {
    this.shape = shape;
    this.index = index;
    this.random = SeededRandom.of(shape.seed(), index);
    this.turns = random.nextInt(shape.turns());
  }

  int index() {
    return index;
  }

  int turns() {
    return turns;
  }

  boolean over() {
    return nextTurn == turns;
  }

  /** Leading tokens of the next prompt whose KV exists: the whole history except its last token. */
  int answeredTokens() {
    return answeredTokens;
  }

  /** Creates the request of the next turn. Its id depends only on session and turn. */
  Request ask() {
    if (nextTurn == 0) {
      history = new int[shape.systemPromptTokens()];
      TokenExpansion.fill(Content.SYSTEM_PROMPT.seed(shape.seed(), 0), history, 0, history.length);
    }
    long id = (long) index * shape.turns().maximum() + nextTurn;
    int[] prompt = Arrays.copyOf(history, history.length + shape.userTokens().draw(random));
    TokenExpansion.fill(
        Content.USER_TURN.seed(shape.seed(), id), prompt, history.length, prompt.length);
    history = prompt;
    return Request.builder(id, prompt)
        .maxNewTokens(random.nextInt(shape.outputTokens()))
        .conversationId("s" + index)
        .firstTurn(nextTurn++ == 0)
        .build();
  }

  /** Appends the answer to the history; returns the think time before the next turn. */
  long answered(int[] outputTokens) {
    int asked = history.length;
    history = Arrays.copyOf(history, asked + outputTokens.length);
    System.arraycopy(outputTokens, 0, history, asked, outputTokens.length);
    answeredTokens = history.length - 1;
    return shape.thinkTime().drawNs(random);
  }
}
