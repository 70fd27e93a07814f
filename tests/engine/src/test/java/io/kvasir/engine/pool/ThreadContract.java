package io.kvasir.engine.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.harness.Await;
import io.kvasir.testing.pool.PoolScenario;
import io.kvasir.testing.pool.SettledBlockPool;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

/** Use of a pool by several threads: what is allowed works, the rest throws. */
public interface ThreadContract extends PoolContract {

  @Test
  default void closeWaitsForProbesAndLaterOnesThrow() throws Exception {
    for (int round = 0; round < 20; round++) {
      PoolScenario pool = pool(64);
      pool.cache("ABCDEFGH");
      ProbeBatch batch = new ProbeBatch();
      for (int i = 0; i < 64; i++) {
        batch.add(pool.prompt("ABCDEFGH").names(), 8);
      }
      CountDownLatch probing = new CountDownLatch(2);
      List<FutureTask<Throwable>> readers = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        readers.add(start("reader-" + i, () -> probeUntilClosed(readable(pool), batch, probing)));
      }
      Await.opened("the readers probe", probing);
      pool.close();
      for (FutureTask<Throwable> reader : readers) {
        assertThat(Await.result("a reader", reader))
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContaining("is closed");
      }
    }
  }

  private static Throwable probeUntilClosed(
      BlockPool pool, ProbeBatch batch, CountDownLatch probing) {
    int[] matched = new int[batch.size()];
    probing.countDown();
    while (true) {
      try {
        pool.probe(batch, matched, 0);
        if (pool.occupancy().capacityBlocks() != 64 || matched[63] != 8) {
          return new AssertionError("matched " + matched[63] + " of 8 blocks");
        }
      } catch (IllegalStateException e) {
        return e;
      }
    }
  }

  @Test
  default void aPoolBelongsToTheFirstThreadThatChangesIt() throws Exception {
    try (PoolScenario pool = pool(4)) {
      int lease = pool.start(pool.want("AB"));
      Occupancy before = pool.occupancy();
      String owner = Thread.currentThread().getName();
      List<Runnable> changes =
          List.of(
              () -> pool.lease(pool.want("X")),
              () -> pool.extend(lease, 1),
              () -> pool.commit(lease, "AB", 0, 1),
              () -> pool.release(lease),
              () -> pool.pool().clear(),
              pool::events,
              pool.pool()::handOver);
      for (Runnable change : changes) {
        assertThat(Await.result("other", start("other", () -> failure(change))))
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContaining("'" + owner + "'")
            .hasMessageContaining("'other'");
      }
      assertThat(Await.result("other", start("other", () -> failure(readable(pool)::occupancy))))
          .isNull();
      assertThat(pool.occupancy()).isEqualTo(before);
    }
  }

  @Test
  default void aPoolThatWasHandedOverBelongsToTheNextThread() throws Exception {
    try (PoolScenario pool = pool(4)) {
      int lease = pool.start(pool.want("AB"));
      pool.pool().handOver();
      FutureTask<Throwable> next = new FutureTask<>(() -> failure(() -> pool.release(lease)));
      Thread thread = new Thread(next, "next");
      thread.start();
      Await.end(thread);
      assertThat(Await.result("next", next)).isNull();
      // A thread that has ended owns nothing.
      assertThat(pool.start(pool.want("C"))).isNotEqualTo(LeaseBatch.REFUSED);
    }
  }

  /** The pool without a wrapper that changes it before it is read. */
  private static BlockPool readable(PoolScenario pool) {
    return pool.pool() instanceof SettledBlockPool settled ? settled.pool() : pool.pool();
  }

  private static Throwable failure(Runnable action) {
    try {
      action.run();
      return null;
    } catch (RuntimeException e) {
      return e;
    }
  }

  private static FutureTask<Throwable> start(String name, Callable<Throwable> action) {
    FutureTask<Throwable> task = new FutureTask<>(action);
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.start();
    return task;
  }
}
