package io.kvasir.benchmarks.index;

import io.kvasir.fleet.index.ChangeStatus;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.index.RankMatches;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.LockSupport;

/**
 * Replays a corpus against absolute deadlines: its times, compressed to a window. One thread
 * performs the look-ups and one the changes, each in the corpus's order, so the changes of a worker
 * stay in order. Deadlines do not shift when a thread falls behind; the operations that are due
 * queue up. The clock stops when both threads have finished.
 *
 * <p>The calling thread reads; a second thread writes.
 */
final class DeadlineReplay {

  private static final long PARK_ABOVE_NS = 200_000;
  private static final long START_IN_NS = 50_000_000;

  private final Corpus corpus;
  private final PrefixIndex index;
  private final long windowNs;

  DeadlineReplay(Corpus corpus, PrefixIndex index, long windowNs) {
    this.corpus = corpus;
    this.index = index;
    this.windowNs = windowNs;
  }

  /** The operations of one thread. */
  private abstract static class Lane {
    final Latencies service;
    final Latencies done;
    long latestWakeNs;
    long lastNs;
    long failed;

    Lane(int operations) {
      this.service = new Latencies(operations);
      this.done = new Latencies(operations);
    }

    abstract long deadlineNs(int operation);

    abstract void call(int operation);

    /** Performs all operations in order. */
    void run(int operations, long startNs) {
      for (int operation = 0; operation < operations; operation++) {
        long deadlineNs = startNs + deadlineNs(operation);
        long beginNs = System.nanoTime();
        if (beginNs - deadlineNs < 0) {
          beginNs = await(deadlineNs);
          latestWakeNs = Math.max(latestWakeNs, beginNs - deadlineNs);
        }
        call(operation);
        lastNs = System.nanoTime();
        service.add(lastNs - beginNs);
        done.add(lastNs - deadlineNs);
      }
    }

    private static long await(long deadlineNs) {
      long now = System.nanoTime();
      while (now - deadlineNs < 0) {
        if (deadlineNs - now > PARK_ABOVE_NS) {
          LockSupport.parkNanos(deadlineNs - now - PARK_ABOVE_NS);
        } else {
          Thread.onSpinWait();
        }
        now = System.nanoTime();
      }
      return now;
    }
  }

  DeadlineFigures run() throws InterruptedException {
    double scale = (double) windowNs / corpus.spanNs();
    Lane reads =
        new Lane(corpus.counts().queries()) {
          private final RankMatches matches = new RankMatches();

          @Override
          long deadlineNs(int query) {
            return (long) (corpus.queryAtNs(query) * scale);
          }

          @Override
          void call(int query) {
            long[] hashes = corpus.query(query);
            index.match(hashes, hashes.length, matches);
          }
        };
    Lane writes =
        new Lane(corpus.counts().changes()) {
          @Override
          long deadlineNs(int change) {
            return (long) (corpus.changeAtNs(change) * scale);
          }

          @Override
          void call(int change) {
            if (index.apply(corpus.rank(change), corpus.change(change)) != ChangeStatus.APPLIED) {
              failed++;
            }
          }
        };
    long startNs = System.nanoTime() + START_IN_NS;
    FutureTask<Boolean> written =
        new FutureTask<>(() -> writes.run(corpus.counts().changes(), startNs), true);
    Thread writer = new Thread(written, "kvasir-bench-writer");
    writer.setDaemon(true);
    writer.start();
    reads.run(corpus.counts().queries(), startNs);
    try {
      written.get();
    } catch (ExecutionException e) {
      throw new IllegalStateException("the writer failed: " + e.getCause(), e.getCause());
    }
    return new DeadlineFigures(
        windowNs,
        Math.max(reads.lastNs, writes.lastNs) - startNs,
        corpus.counts().blockOps(),
        Math.max(reads.latestWakeNs, writes.latestWakeNs),
        reads.service.summary(),
        reads.done.summary(),
        writes.service.summary(),
        writes.done.summary(),
        writes.failed);
  }
}
