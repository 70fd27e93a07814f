package io.kvasir.gateway.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.index.IndexStats;
import io.kvasir.fleet.index.NativePrefixIndex;
import io.kvasir.fleet.index.StreamStats;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import io.kvasir.testing.harness.Await;
import io.kvasir.testing.harness.LongRuns;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.zeromq.ZContext;

/**
 * Many ranks publish, and now and then all at once: nothing is lost, and memory stays flat.
 *
 * <p>The long form publishes ten minutes at a steady rate, and prints how long batches took in the
 * second half, when the code is compiled; the publishers are on a thread of the same process.
 */
class EventSoakTest {

  /** 0 for some batches without a rate. */
  private static final int SECONDS = LongRuns.cases(0, 600);

  private static final long SEED = Long.getLong("kvasir.test.seed", 20261122);
  private static final int RANKS = 64;
  private static final int BATCHES_PER_SECOND = 200;

  /** Each step is a batch of each rank; the burst is in the middle. */
  private static final int STEPS_PER_BURST = SECONDS > 0 ? 3 * BATCHES_PER_SECOND : 200;

  /** All ranks are full after the first burst. */
  private static final int STEPS = Math.max(SECONDS * BATCHES_PER_SECOND / 2, STEPS_PER_BURST);

  private static final long HEAP_SLACK = 4 << 20;

  private final EventPump pump = new EventPump();
  private final NativePrefixIndex index =
      new NativePrefixIndex(HashFormat.KVASIR, SoakFrames.TOKENS_PER_BLOCK, 1 << 28);
  private final FleetEvents events = new FleetEvents(pump, index, SoakFrames.TOKENS_PER_BLOCK);
  private final TimedSink.Delays delays = new TimedSink.Delays();
  private final ZContext context = new ZContext();
  private final List<SoakPublisher> publishers = new ArrayList<>();
  private long steps;

  @AfterEach
  void close() {
    pump.close();
    publishers.forEach(SoakPublisher::close);
    context.close();
    index.close();
  }

  /** Memory in use, in bytes. */
  private record Memory(long heap, long index) {}

  @Test
  void nothingIsLostAndMemoryIsFlat() {
    for (int i = 0; i < RANKS; i++) {
      SoakPublisher publisher = new SoakPublisher(context, new RankId(i / 8, i % 8), SEED + i);
      publishers.add(publisher);
      FeedSpec spec = publisher.spec();
      pump.add(
          spec,
          new TimedSink(
              events.sink(spec.rank(), null, AppliedListener.NONE), publisher::sentNs, delays));
    }
    publishers.forEach(SoakPublisher::awaitSubscriber);

    publish(STEPS);
    Memory middle = memory();
    pump.execute(delays::forget);
    long before = delays.batches;
    long startNs = System.nanoTime();
    long startCpuNs = pumpCpuNs();
    publish(STEPS);
    long cpuNs = pumpCpuNs() - startCpuNs;
    if (SECONDS > 0) {
      print(delays.batches - before, System.nanoTime() - startNs, cpuNs);
    }
    Memory end = memory();
    System.out.printf(
        "heap %.1f MB, then %.1f MB; index %.1f MB, then %.1f MB%n",
        middle.heap() / 1e6, end.heap() / 1e6, middle.index() / 1e6, end.index() / 1e6);

    StreamStats stats = events.stats();
    assertThat(stats.gaps()).as("gaps, seed %d", SEED).isZero();
    assertThat(stats.unknownParents()).isZero();
    assertThat(stats.unknownBlocks()).isZero();
    assertThat(stats.refused()).isZero();
    IndexStats indexed = index.stats();
    assertThat(indexed.evictedMemberships()).isZero();
    for (SoakPublisher publisher : publishers) {
      RankReport report = events.report(publisher.spec().rank());
      assertThat(report.blocks()).as("blocks, seed %d", SEED).isEqualTo(publisher.blocks());
      assertThat(report.untrusted()).isFalse();
    }
    assertThat(indexed.distinctBlocks())
        .isEqualTo(publishers.stream().mapToLong(SoakPublisher::blocks).sum());
    assertThat(end.heap()).isLessThan(middle.heap() + HEAP_SLACK);
    assertThat(end.index()).isLessThanOrEqualTo(middle.index() + middle.index() / 20);
  }

  /** Publishes, ranks one after the other, and waits until all has been applied. */
  private void publish(int count) {
    long periodNs = TimeUnit.SECONDS.toNanos(1) / BATCHES_PER_SECOND;
    long startNs = System.nanoTime();
    for (int step = 0; step < count; step++, steps++) {
      for (int i = 0; i < RANKS; i++) {
        if (SECONDS > 0) {
          SoakPublisher.awaitNs(startNs + step * periodNs + i * periodNs / RANKS);
        }
        publishers.get(i).publishBatch();
      }
      if (steps % STEPS_PER_BURST == STEPS_PER_BURST / 2) {
        publishers.forEach(SoakPublisher::publishBurst);
      }
    }
    Await.until("all batches", () -> delays.batches == published());
  }

  private long published() {
    return publishers.stream().mapToLong(SoakPublisher::published).sum();
  }

  private static long pumpCpuNs() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long cpuNs = 0;
    for (ThreadInfo thread : threads.getThreadInfo(threads.getAllThreadIds())) {
      if (thread != null && thread.getThreadName().equals("kvasir-events")) {
        cpuNs += threads.getThreadCpuTime(thread.getThreadId());
      }
    }
    return cpuNs;
  }

  private Memory memory() {
    System.gc();
    Runtime runtime = Runtime.getRuntime();
    return new Memory(runtime.totalMemory() - runtime.freeMemory(), index.stats().bytes());
  }

  private void print(long batches, long durationNs, long cpuNs) {
    double seconds = durationNs / 1e9;
    System.out.printf(
        "%d batches of %d ranks in %.1f s, %.0f/s%n", batches, RANKS, seconds, batches / seconds);
    System.out.printf("receipt to applied: %s%n", delays.sinceReceipt);
    System.out.printf("sent to applied: %s%n", delays.sinceSent);
    System.out.printf(
        "the pump's thread: %.1f %% of a core, %.1f us a batch%n",
        100 * cpuNs / 1e9 / seconds, cpuNs / 1e3 / batches);
  }
}
