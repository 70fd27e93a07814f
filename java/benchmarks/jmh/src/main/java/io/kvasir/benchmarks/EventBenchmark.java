package io.kvasir.benchmarks;

import io.kvasir.fleet.index.CopyCounts;
import io.kvasir.fleet.index.EventStreams;
import io.kvasir.fleet.index.FirstNumber;
import io.kvasir.fleet.index.NativePrefixIndex;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.index.StreamLimits;
import io.kvasir.fleet.wire.RankEvents;
import io.kvasir.fleet.wire.WireDecoder;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Decodes a batch as vLLM publishes it, hashes its blocks of 16 tokens, and applies it to the
 * index. Each batch removes as many blocks as it stores. The ranks take turns.
 *
 * <p>Confined to JMH's thread.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class EventBenchmark {

  private static final int RANKS = 64;
  private static final int VOCABULARY = 128_000;

  /** Blocks that a rank holds. */
  private static final int HELD = 512;

  /** Batches of a chain, at most. */
  private static final int CHAIN = 8;

  /** Blocks that a batch stores, and that it removes. */
  @Param({"4", "512"})
  public int blocks;

  /** Whether copies of blocks are counted, as in a gateway. */
  @Param({"false", "true"})
  public boolean copies;

  private final WireDecoder decoder = new WireDecoder();
  private final NativePrefixIndex index =
      new NativePrefixIndex(HashFormat.KVASIR, VllmBatch.TOKENS_PER_BLOCK, 1 << 28);
  private EventStreams streams = streams(index);
  private final RankId[] ranks = new RankId[RANKS];
  private final RankEvents[] events = new RankEvents[RANKS];
  private final byte[][][] payloads = new byte[RANKS][][];
  private long next;

  /** Creates the state; JMH fills it. */
  public EventBenchmark() {}

  private static EventStreams streams(PrefixIndex into) {
    return new EventStreams(
        into, (rank, first, last, answer) -> answer.gone(), StreamLimits.DEFAULT, FirstNumber.ZERO);
  }

  /** Encodes the batches and fills the ranks. */
  @Setup
  public void prepare() {
    streams = streams(copies ? new CopyCounts(index) : index);
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < RANKS; i++) {
      ranks[i] = new RankId(i / 8, i % 8);
      events[i] = new RankEvents(VllmBatch.TOKENS_PER_BLOCK, null);
      payloads[i] = payloads(random);
    }
    while (next < (long) RANKS * payloads[0].length) {
      apply();
    }
    if (index.stats().memberships() != (long) RANKS * HELD) {
      throw new IllegalStateException(index.stats() + " instead of " + HELD + " blocks a rank");
    }
  }

  /** Batches that can be repeated: each replaces blocks that were stored half of them before. */
  private byte[][] payloads(SplittableRandom random) {
    int held = HELD / blocks;
    byte[][] batches = new byte[2 * held][];
    long[][] hashes = new long[batches.length][];
    for (int i = 0; i < hashes.length; i++) {
      hashes[i] = random.longs(blocks).toArray();
    }
    for (int i = 0; i < batches.length; i++) {
      Long parent = i % Math.min(CHAIN, held) == 0 ? null : (Long) hashes[i - 1][blocks - 1];
      int[] tokens =
          random.ints((long) blocks * VllmBatch.TOKENS_PER_BLOCK, 0, VOCABULARY).toArray();
      batches[i] =
          VllmBatch.of(true, hashes[(i + held) % hashes.length], parent, hashes[i], tokens);
    }
    return batches;
  }

  /** Frees the index. */
  @TearDown
  public void close() {
    index.close();
  }

  /**
   * Decodes and applies the next batch.
   *
   * @return whether it has taken effect
   */
  @Benchmark
  public boolean apply() {
    int rank = (int) (next % RANKS);
    long number = next / RANKS;
    byte[] payload = payloads[rank][(int) (number % payloads[rank].length)];
    decoder.decode(payload, 0, payload.length, events[rank]);
    next++;
    return streams.onBatch(ranks[rank], number, events[rank].take());
  }
}
