package io.kvasir.simulator.workload;

import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Threads;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.jspecify.annotations.Nullable;

/**
 * Prepares a sequence's requests on its own thread, a bounded number ahead of the consumer.
 *
 * <p>Order and content are the sequence's, so the thread affects wall-clock time only. {@link
 * #take()} and {@link #close()} are confined to one thread.
 */
final class PreparedRequests implements AutoCloseable {

  private static final int AHEAD = 64;

  private final RequestSequence sequence;
  private final RequestPreparation preparation;
  private final BlockingQueue<Prepared> queue = new ArrayBlockingQueue<>(AHEAD);
  private final Thread thread;

  /** A request, or the exception of its preparation. */
  private record Prepared(@Nullable HashedRequest request, @Nullable Throwable failure) {}

  PreparedRequests(RequestSequence sequence, RequestPreparation preparation) {
    this.sequence = sequence;
    this.preparation = preparation;
    this.thread = new Thread(this::prepareAll, "kvasir-prepare");
    thread.setDaemon(true);
    thread.start();
  }

  /** Takes the next request, in the sequence's order; waits until it is prepared. */
  HashedRequest take() {
    try {
      Prepared prepared = queue.take();
      if (prepared.failure() instanceof Error error) {
        throw error;
      }
      HashedRequest request = prepared.request();
      if (request == null) {
        throw new IllegalStateException("a request could not be prepared", prepared.failure());
      }
      return request;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while a request was prepared", e);
    }
  }

  private void prepareAll() {
    try {
      for (int index = 0; index < sequence.size(); index++) {
        queue.put(
            new Prepared(
                preparation.prepare(sequence.request(index), sequence.answeredTokens(index)),
                null));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // closed: no more requests are taken
    } catch (RuntimeException | Error e) {
      offerFailure(e);
    }
  }

  private void offerFailure(Throwable failure) {
    try {
      queue.put(new Prepared(null, failure));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    thread.interrupt();
    Threads.join(thread);
  }
}
