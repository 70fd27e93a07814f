package io.kvasir.benchmarks;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.wire.RankEvents;
import io.kvasir.fleet.wire.WireDecoder;
import java.util.List;
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

/**
 * Decodes a batch of one stored event as vLLM publishes it, blocks of 16 tokens, and translates it
 * into a block event.
 *
 * <p>Confined to JMH's thread.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class WireBenchmark {

  private static final int VOCABULARY = 128_000;

  /** Blocks of the event. */
  @Param({"4", "512"})
  public int blocks;

  /** Whether the event is a map or an array. */
  @Param({"map", "array"})
  public String form;

  private final WireDecoder decoder = new WireDecoder();
  private final RankEvents rank = new RankEvents(VllmBatch.TOKENS_PER_BLOCK, null);
  private byte[] payload;

  /** Creates the state; JMH fills it. */
  public WireBenchmark() {}

  /** Encodes the batch. */
  @Setup
  public void prepare() {
    SplittableRandom random = new SplittableRandom(1);
    long[] hashes = random.longs(blocks).toArray();
    int[] tokens = random.ints((long) blocks * VllmBatch.TOKENS_PER_BLOCK, 0, VOCABULARY).toArray();
    payload = VllmBatch.of(form.equals("map"), new long[0], random.nextLong(), hashes, tokens);
  }

  /**
   * Decodes and translates the batch.
   *
   * @return its events
   */
  @Benchmark
  public List<BlockEvent> decode() {
    decoder.decode(payload, 0, payload.length, rank);
    return rank.take();
  }
}
