package io.kvasir.engine.lockstep;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Runs the members of a group at the same time. */
public final class Threads {

  private Threads() {}

  /** What each returned or threw, in order; hanging is a failure. */
  public static List<Object> run(List<? extends Callable<?>> members) throws InterruptedException {
    ExecutorService threads = Executors.newFixedThreadPool(members.size());
    try {
      List<Future<?>> running = new ArrayList<>();
      members.forEach(member -> running.add(threads.submit(member)));
      List<Object> results = new ArrayList<>();
      for (Future<?> future : running) {
        try {
          results.add(future.get(60, TimeUnit.SECONDS));
        } catch (ExecutionException e) {
          results.add(e.getCause());
        } catch (java.util.concurrent.TimeoutException e) {
          throw new AssertionError("a member hangs", e);
        }
      }
      return results;
    } finally {
      threads.shutdownNow();
    }
  }
}
