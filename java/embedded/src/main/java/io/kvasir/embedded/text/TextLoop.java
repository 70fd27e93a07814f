package io.kvasir.embedded.text;

import io.kvasir.embedded.api.ApiError;
import io.kvasir.embedded.api.SequenceListener;
import io.kvasir.embedded.api.SequenceListener.Start;
import io.kvasir.embedded.api.Wakeup;
import io.kvasir.exchange.UpstreamFailure;
import io.kvasir.model.Threads;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread of a {@link TextModel}. It serves a bounded queue in order, one sequence at a time.
 *
 * <p>Thread-safe. No method waits for the model, except {@link #close}.
 */
final class TextLoop implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(TextLoop.class);

  private final TextModel model;
  private final int maxSequences;
  private final TextMeters meters = new TextMeters();
  private final AtomicInteger reserved = new AtomicInteger();
  private final BlockingQueue<TextSequence> queue = new LinkedBlockingQueue<>();
  private final Thread thread;
  private volatile boolean closing;

  /** Set before the last sequences are taken from the queue. */
  private volatile boolean ended;

  /** Starts the thread. The loop closes the model. */
  TextLoop(TextModel model, int maxSequences) {
    this.model = model;
    this.maxSequences = maxSequences;
    this.thread = new Thread(this::run, "kvasir-model-" + model.name());
    thread.setDaemon(true);
    thread.start();
  }

  boolean isClosed() {
    return closing;
  }

  /** Whether sequences are served. */
  boolean isLive() {
    return !ended;
  }

  TextMeters meters() {
    return meters;
  }

  /**
   * Reserves room for sequences that {@link #submit} will receive.
   *
   * @return false if there is not enough room; nothing is reserved
   */
  boolean reserve(int sequences) {
    int before = reserved.get();
    while (before + (long) sequences <= maxSequences) {
      if (reserved.compareAndSet(before, before + sequences)) {
        return true;
      }
      before = reserved.get();
    }
    return false;
  }

  /** Submits sequences for which room is reserved. */
  void submit(List<TextSequence> sequences) {
    meters.onWaiting(sequences.size());
    queue.addAll(sequences);
    if (ended) {
      abortQueue();
    }
  }

  /**
   * Cancels sequences. One that waits leaves the queue; one that runs ends with its next token.
   * Those that have ended are ignored.
   */
  void cancel(List<TextSequence> sequences) {
    for (TextSequence sequence : sequences) {
      sequence.cancel();
      if (queue.remove(sequence)) {
        meters.onWaiting(-1);
        reserved.decrementAndGet();
      }
    }
  }

  private void run() {
    try {
      while (!closing) {
        TextSequence next = queue.take();
        meters.onWaiting(-1);
        meters.onRunning(1);
        Consumer<SequenceListener> end;
        try {
          end = serve(next);
        } finally {
          meters.onRunning(-1);
          reserved.decrementAndGet();
        }
        post(next, end);
      }
    } catch (InterruptedException e) {
      LOG.debug("The engine of {} is closed", model.name());
    } catch (Error e) {
      LOG.error("The engine of {} ends", model.name(), e);
      throw e;
    } finally {
      ended = true;
      abortQueue();
    }
  }

  /** Generates a sequence; returns its last event. */
  private Consumer<SequenceListener> serve(TextSequence sequence) {
    try {
      return sequence.isCancelled() ? listener -> {} : generate(sequence);
    } catch (RuntimeException e) {
      LOG.error("A generation of {} failed: {}", model.name(), e.getClass().getName());
      ApiError error =
          ApiError.of(
              ApiError.INTERNAL, "generation_failed", "The model failed: " + e.getMessage());
      return listener -> listener.onFailed(error);
    }
  }

  private Consumer<SequenceListener> generate(TextSequence sequence) {
    TextRequest request = sequence.request();
    int choice = sequence.choice();
    int tokens = 0;
    try (TextGeneration generation = model.generate(request)) {
      int matched = generation.matchedTokens();
      meters.onStarted(request.prompt().length, matched);
      post(sequence, listener -> listener.onStarted(choice, new Start(0, matched, "slot")));
      for (TextGeneration.Piece piece = next(sequence, generation);
          piece != null;
          piece = next(sequence, generation)) {
        tokens += piece.tokens();
        meters.onTokens(piece.tokens());
        postPiece(sequence, piece);
      }
    }
    if (closing) {
      return TextLoop::abort;
    }
    if (sequence.isCancelled()) {
      return listener -> {};
    }
    meters.onFinished();
    boolean byItself = tokens < request.maxTokens();
    return listener -> {
      sequence.answer().end(byItself);
      listener.onFinished(choice);
    };
  }

  private TextGeneration.@Nullable Piece next(TextSequence sequence, TextGeneration generation) {
    return closing || sequence.isCancelled() ? null : generation.next();
  }

  private void postPiece(TextSequence sequence, TextGeneration.Piece piece) {
    post(
        sequence,
        listener -> {
          sequence.answer().add(piece.text(), piece.tokens());
          for (int i = 0; i < piece.tokens(); i++) {
            listener.onToken(sequence.choice());
          }
        });
  }

  private static void abort(SequenceListener listener) {
    listener.onAborted(new UpstreamFailure(UpstreamFailure.Kind.CLOSED, "the engine is closed"));
  }

  private void abortQueue() {
    for (TextSequence next = queue.poll(); next != null; next = queue.poll()) {
      meters.onWaiting(-1);
      reserved.decrementAndGet();
      post(next, TextLoop::abort);
    }
  }

  /** Passes an event on as a task of the request's event loop. */
  private static void post(TextSequence sequence, Consumer<SequenceListener> event) {
    Wakeup wakeup = new Wakeup();
    wakeup.add(sequence.listener(), event);
    try {
      sequence.listener().loop().execute(wakeup);
    } catch (RejectedExecutionException e) {
      LOG.debug("An event loop has ended before its requests", e);
    }
  }

  /**
   * Aborts all requests, waits for the end of the thread, which is the next token of the running
   * request, and closes the model. Repeated calls have no effect.
   */
  @Override
  public void close() {
    closing = true;
    thread.interrupt();
    Threads.join(thread);
    model.close();
  }
}
