package io.kvasir.gateway.tokens;

import io.kvasir.gateway.worker.EngineQuestion;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A question on its way, and those that wait for its answer. Thread-safe. */
final class TokenFlight {

  /**
   * The outcome of a question.
   *
   * @param tokens the tokens; null without an answer
   * @param status the status of the engine's answer
   * @param wholeLimit whether the engine had the whole time that a request waits
   */
  record Outcome(@Nullable MadeTokens tokens, int status, boolean wholeLimit) {

    /** Whether the engine has failed, and not only had too little time. */
    boolean failed() {
      return switch (status) {
        case EngineQuestion.NO_ANSWER, EngineQuestion.NO_CONNECTION -> wholeLimit;
        case EngineQuestion.TOO_LARGE -> true;
        default -> status >= SERVER_ERROR;
      };
    }
  }

  private static final int SERVER_ERROR = 500;

  private final List<Consumer<Outcome>> waiters = new ArrayList<>();
  private boolean over;

  /** Waits for the answer; false if the question is over. */
  synchronized boolean join(Consumer<Outcome> waiter) {
    return !over && waiters.add(waiter);
  }

  /** The question is over. */
  void finish(Outcome outcome) {
    List<Consumer<Outcome>> all;
    synchronized (this) {
      over = true;
      all = List.copyOf(waiters);
    }
    all.forEach(waiter -> waiter.accept(outcome));
  }
}
