package io.kvasir.benchmarks;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * How fast one thread reads uncached memory in large pages: a reference for the other benchmarks.
 *
 * <p>Confined to JMH's thread.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(jvmArgsAppend = "-XX:+UseTransparentHugePages")
public class MemoryReadBenchmark {

  /** Bytes that one sweep reads. */
  static final int SWEPT_BYTES = 64 << 20;

  /** Cache lines read by one invocation of the other methods. */
  static final int LINES_READ = 4096;

  private static final int SWEPT_LONGS = SWEPT_BYTES / Long.BYTES;
  private static final int SWEEPS = 16;
  private static final int LONGS_PER_LINE = 8;

  /** Random lines come from 128 MiB, the size of the directories of eight pools. */
  private static final int LINE_MASK = (128 << 20) / 64 - 1;

  private static final int MULTIPLIER = 1_664_525;
  private static final int INCREMENT = 1_013_904_222;

  private long[] memory;
  private int sweep;
  private int line;

  /** Creates the state; JMH fills it. */
  public MemoryReadBenchmark() {}

  /** Touches the memory, which is many times larger than the caches. */
  @Setup
  public void prepare() {
    memory = new long[SWEEPS * SWEPT_LONGS];
    Arrays.fill(memory, 1);
  }

  /**
   * Sums the next part of the memory. Four sums keep the additions independent of each other.
   *
   * @return the sum
   */
  @Benchmark
  public long sweep() {
    int begin = sweep * SWEPT_LONGS;
    sweep = (sweep + 1) % SWEEPS;
    long a = 0;
    long b = 0;
    long c = 0;
    long d = 0;
    for (int i = begin; i < begin + SWEPT_LONGS; i += 4) {
      a += memory[i];
      b += memory[i + 1];
      c += memory[i + 2];
      d += memory[i + 3];
    }
    return a + b + c + d;
  }

  /**
   * Reads lines whose addresses are known in advance.
   *
   * @return the sum
   */
  @Benchmark
  public long scatteredLines() {
    int next = line;
    long sum = 0;
    for (int i = 0; i < LINES_READ; i++) {
      next = next * MULTIPLIER + INCREMENT + 1;
      sum += memory[(next >>> 8 & LINE_MASK) * LONGS_PER_LINE];
    }
    line = next;
    return sum;
  }

  /**
   * Reads lines that each depend on the value of the previous one (a pointer chase).
   *
   * @return the last line
   */
  @Benchmark
  public int chainedLines() {
    int next = line;
    for (int i = 0; i < LINES_READ; i++) {
      int read = (int) memory[(next >>> 8 & LINE_MASK) * LONGS_PER_LINE];
      next = next * MULTIPLIER + INCREMENT + read;
    }
    line = next;
    return next;
  }
}
