package io.kvasir.testing.harness;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * Waits for what a test needs, never for a time. All waits have one limit, which is far more than a
 * busy machine needs: 60 seconds times the environment variable {@code KVASIR_TEST_PATIENCE}. A
 * wait that reaches it fails the test and prints the threads of this process and of its children.
 *
 * <p>Stateless.
 */
public final class Await {

  private static final Duration LIMIT = limit(System.getenv("KVASIR_TEST_PATIENCE"));
  private static final int PAUSE_MS = 5;

  private Await() {}

  /** A state that may not be there yet. */
  @FunctionalInterface
  public interface Condition {

    /**
     * Looks once.
     *
     * @return whether it is there
     * @throws Exception if the test fails
     */
    boolean met() throws Exception;
  }

  static Duration limit(String patience) {
    double factor = 1;
    if (patience != null && !patience.isBlank()) {
      try {
        factor = Double.parseDouble(patience);
      } catch (NumberFormatException e) {
        factor = 0;
      }
      if (!(factor > 0 && factor <= 1_000)) {
        throw new IllegalArgumentException(
            "KVASIR_TEST_PATIENCE must be a number above 0, at most 1000, not '" + patience + "'");
      }
    }
    return Duration.ofMillis(Math.round(60_000 * factor));
  }

  /** {@return the limit of all waits, for calls that need one} */
  public static Duration limit() {
    return LIMIT;
  }

  /** {@return the limit in milliseconds} */
  public static int limitMs() {
    return (int) LIMIT.toMillis();
  }

  /**
   * Waits for a state that no event announces and whose words are in the code.
   *
   * @param state looks whether it is there, every few milliseconds
   */
  public static void until(Condition state) {
    until("the state", state);
  }

  /**
   * Waits for a state that no event announces.
   *
   * @param what the state in words
   * @param state looks whether it is there, every few milliseconds
   */
  public static void until(String what, Condition state) {
    long startNs = System.nanoTime();
    try {
      while (!state.met()) {
        if (System.nanoTime() - startNs > LIMIT.toNanos()) {
          throw expired(what);
        }
        Thread.sleep(PAUSE_MS);
      }
    } catch (InterruptedException e) {
      throw interrupted(what);
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new AssertionError("waiting failed: " + what, e);
    }
  }

  /**
   * Waits for a value that no event announces.
   *
   * @param <T> its type
   * @param what the value in words
   * @param value gives it; null while it is not there
   * @return the value
   */
  public static <T> T value(String what, Supplier<T> value) {
    Object[] found = {null};
    until(what, () -> (found[0] = value.get()) != null);
    @SuppressWarnings("unchecked")
    T typed = (T) found[0];
    return typed;
  }

  /**
   * Waits for a latch.
   *
   * @param what what opens it, in words
   * @param latch the latch
   */
  public static void opened(String what, CountDownLatch latch) {
    try {
      if (!latch.await(LIMIT.toNanos(), TimeUnit.NANOSECONDS)) {
        throw expired(what);
      }
    } catch (InterruptedException e) {
      throw interrupted(what);
    }
  }

  /**
   * Waits until all parties are at a barrier.
   *
   * @param barrier the barrier
   */
  public static void all(CyclicBarrier barrier) {
    String what = "all parties at the barrier";
    try {
      barrier.await(LIMIT.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException | BrokenBarrierException e) {
      throw expired(what);
    } catch (InterruptedException e) {
      throw interrupted(what);
    }
  }

  /**
   * Waits for a result.
   *
   * @param <T> its type
   * @param what what makes it, in words
   * @param future holds it
   * @return the result
   * @throws AssertionError if it failed; the cause is its failure
   */
  public static <T> T result(String what, Future<T> future) {
    return result(what, future, LIMIT);
  }

  /**
   * Waits for a result that has a limit of its own.
   *
   * @param <T> its type
   * @param what what makes it, in words
   * @param future holds it
   * @param limit how long
   * @return the result
   * @throws AssertionError if it failed; the cause is its failure
   */
  static <T> T result(String what, Future<T> future, Duration limit) {
    try {
      return future.get(limit.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw new AssertionError(what + " failed: " + e.getCause(), e.getCause());
    } catch (TimeoutException e) {
      throw expired(what, limit);
    } catch (InterruptedException e) {
      throw interrupted(what);
    }
  }

  /**
   * Runs a call that could hang, in a thread of its own.
   *
   * @param <T> the type of its result
   * @param what the call in words
   * @param call the call
   * @return its result
   * @throws AssertionError if it failed; the cause is its failure
   */
  public static <T> T call(String what, Callable<T> call) {
    FutureTask<T> task = new FutureTask<>(call);
    Thread thread = new Thread(task, what);
    thread.setDaemon(true); // a call that never returns must not keep the tests
    thread.start();
    return result(what, task);
  }

  /**
   * Takes the next element of a queue.
   *
   * @param <T> its type
   * @param what the element in words
   * @param queue the queue
   * @return the element
   */
  public static <T> T next(String what, BlockingQueue<T> queue) {
    try {
      T next = queue.poll(LIMIT.toNanos(), TimeUnit.NANOSECONDS);
      if (next == null) {
        throw expired(what);
      }
      return next;
    } catch (InterruptedException e) {
      throw interrupted(what);
    }
  }

  /**
   * Waits for the end of a thread.
   *
   * @param thread the thread
   */
  public static void end(Thread thread) {
    String what = "the end of the thread " + thread.getName();
    try {
      thread.join(LIMIT.toMillis());
    } catch (InterruptedException e) {
      throw interrupted(what);
    }
    if (thread.isAlive()) {
      throw expired(what);
    }
  }

  /**
   * Waits for the end of a process. Its output must go to a file, or be read.
   *
   * @param what the process in words
   * @param process the process
   * @return its exit code
   */
  public static int end(String what, Process process) {
    try {
      if (!process.waitFor(LIMIT.toNanos(), TimeUnit.NANOSECONDS)) {
        throw expired("the end of " + what);
      }
      return process.exitValue();
    } catch (InterruptedException e) {
      throw interrupted("the end of " + what);
    }
  }

  private static AssertionError expired(String what) {
    return expired(what, LIMIT);
  }

  private static AssertionError expired(String what, Duration limit) {
    ThreadDumps.print(System.out);
    return new AssertionError("not within " + limit.toSeconds() + " s: " + what);
  }

  private static AssertionError interrupted(String what) {
    Thread.currentThread().interrupt();
    return new AssertionError("interrupted while waiting: " + what);
  }
}
