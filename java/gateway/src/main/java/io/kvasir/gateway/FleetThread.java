package io.kvasir.gateway;

import io.kvasir.exchange.EventLoop;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread on which workers come and go. Routers and indexes forget a worker in milliseconds, and
 * certificates of a new one are read: event loops stay free for requests and streams meanwhile.
 *
 * <p>Thread-safe. The thread ends when it has been idle for some seconds. Actions that come after
 * {@link #close} are dropped.
 */
final class FleetThread implements EventLoop, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(FleetThread.class);
  private static final int IDLE_SECONDS = 10;
  private static final int CLOSE_SECONDS = 10;

  private final ScheduledThreadPoolExecutor executor =
      new ScheduledThreadPoolExecutor(
          1,
          task -> {
            Thread thread = new Thread(task, "kvasir-fleet");
            thread.setDaemon(true);
            return thread;
          },
          (task, closed) -> LOG.debug("a change of the workers comes too late"));

  FleetThread() {
    executor.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
    executor.allowCoreThreadTimeOut(true);
    executor.setRemoveOnCancelPolicy(true);
  }

  @Override
  public void execute(Runnable action) {
    executor.execute(() -> run(action));
  }

  @Override
  public Timer after(long delayMs, Runnable action) {
    Future<?> planned = executor.schedule(() -> run(action), delayMs, TimeUnit.MILLISECONDS);
    return () -> planned.cancel(false);
  }

  /** An exception ends the action, and an error is the thread's, as without an executor. */
  private static void run(Runnable action) {
    try {
      action.run();
    } catch (RejectedExecutionException e) {
      LOG.debug("the event loop of a change of the workers has ended", e);
    } catch (RuntimeException e) {
      LOG.error("a change of the workers failed", e);
    } catch (Error e) {
      Thread thread = Thread.currentThread();
      thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
    }
  }

  /** Waits for the running action, for some seconds at most, and drops the others. */
  @Override
  public void close() {
    executor.shutdownNow();
    try {
      if (!executor.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
        LOG.warn("a change of the workers still runs");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
