package io.kvasir.gateway.proxy;

import io.kvasir.exchange.BodyHold;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Threads that scan, decode and hash large bodies, so that event loops stay free for the requests
 * and streams of other clients.
 *
 * <p>Thread-safe. Owns its threads; they end when they have been idle for some seconds.
 */
public final class BodyThreads implements AutoCloseable {

  /** Bodies above this size are handled here; an event loop needs about a millisecond for one. */
  public static final int LARGE_BYTES = 256 << 10;

  private static final Logger LOG = LoggerFactory.getLogger(BodyThreads.class);
  private static final int IDLE_SECONDS = 10;
  private static final int CLOSE_SECONDS = 10;
  private static final int MAX_THREADS = 4;
  private static final int MAX_WAITING = 256;

  private final ThreadPoolExecutor threads;
  private final int maxOfClient;

  /** Tasks of each client that wait or run. */
  private final ConcurrentHashMap<String, Integer> tasks = new ConcurrentHashMap<>();

  /**
   * Creates threads when they are needed.
   *
   * @param maxThreads most threads, at least 1
   * @param maxWaiting tasks that may wait, at least 1; half of them may be of one client
   */
  public BodyThreads(int maxThreads, int maxWaiting) {
    this.maxOfClient = (maxWaiting + 1) / 2;
    this.threads =
        new ThreadPoolExecutor(
            maxThreads,
            maxThreads,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(maxWaiting),
            task -> {
              Thread thread = new Thread(task, "kvasir-bodies");
              thread.setDaemon(true);
              return thread;
            });
    threads.allowCoreThreadTimeOut(true);
  }

  /** {@return as many threads as leave cores for event loops} */
  public static BodyThreads ofMachine() {
    int cores = Runtime.getRuntime().availableProcessors();
    return new BodyThreads(Math.max(1, Math.min(MAX_THREADS, cores / 2)), MAX_WAITING);
  }

  /**
   * Runs a task.
   *
   * @param hold what the task works on; counts against the budget until the task has run
   * @param task the task; an exception is logged, and nothing else follows from it
   * @return false if too many tasks wait, of all clients or of this one; the task does not run then
   */
  boolean run(BodyHold hold, Runnable task) {
    if (!begin(hold.client())) {
      return false;
    }
    hold.pin();
    try {
      threads.execute(
          () -> {
            try {
              task.run();
            } catch (RejectedExecutionException e) {
              LOG.debug("the event loop of a request has ended", e);
            } catch (RuntimeException e) {
              LOG.error("a large body could not be handled", e);
            } finally {
              hold.unpin();
              end(hold.client());
            }
          });
      return true;
    } catch (RejectedExecutionException e) {
      hold.unpin();
      end(hold.client());
      return false;
    }
  }

  /** Counts a task; false if the client has as many as it may. */
  private boolean begin(String client) {
    if (tasks.merge(client, 1, Integer::sum) <= maxOfClient) {
      return true;
    }
    end(client);
    return false;
  }

  private void end(String client) {
    tasks.computeIfPresent(client, (key, count) -> count == 1 ? null : count - 1);
  }

  /** Waits until running tasks have ended, for some seconds at most, and drops the others. */
  @Override
  public void close() {
    threads.shutdownNow();
    try {
      if (!threads.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
        LOG.warn("a large body is still being handled");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
