package io.kvasir.gateway.events;

import io.kvasir.exchange.EventLoop;
import io.kvasir.exchange.Upstream;
import io.kvasir.gateway.worker.EngineQuestion;
import org.jspecify.annotations.Nullable;

/**
 * Asks a TensorRT-LLM worker for its block events, again and again: {@code POST /kv_cache_events}.
 * Each event is given to one reader only. The next question follows when the answer has been
 * applied, so that one answer at most waits.
 *
 * <p>Runs on one event loop.
 */
public final class EventPoll implements AutoCloseable {

  private static final String TARGET = "/kv_cache_events";
  private static final byte[] NO_FIELDS = {'{', '}'};
  private static final int MAX_REPLY_BYTES = 64 << 20;
  private static final long TIMEOUT_MS = 5_000;
  private static final long INTERVAL_MS = 50;
  private static final long PAUSE_MS = 1_000;

  private final Answers answers;
  private final Upstream upstream;
  private final EventLoop loop;
  private volatile boolean closed;

  /** Takes the answers of a worker. */
  @FunctionalInterface
  public interface Answers {

    /**
     * A question is over. Called on the poll's event loop.
     *
     * @param answer the list of events in JSON; null if there was no answer
     * @param next to be run once the answer has been applied; any thread
     */
    void onAnswer(byte @Nullable [] answer, Runnable next);
  }

  /**
   * Begins.
   *
   * @param answers receives the lists of events
   * @param upstream the worker's engine
   * @param loop runs the questions
   */
  public EventPoll(Answers answers, Upstream upstream, EventLoop loop) {
    this.answers = answers;
    this.upstream = upstream;
    this.loop = loop;
    loop.execute(this::ask);
  }

  private void ask() {
    if (!closed) {
      EngineQuestion.post(
          upstream, TARGET, NO_FIELDS, loop, MAX_REPLY_BYTES, TIMEOUT_MS, this::onAnswer);
    }
  }

  private void onAnswer(int status, byte[] body) {
    long pauseMs = status == 200 ? INTERVAL_MS : PAUSE_MS;
    answers.onAnswer(
        status == 200 ? body : null, () -> loop.execute(() -> loop.after(pauseMs, this::ask)));
  }

  @Override
  public void close() {
    closed = true;
  }
}
