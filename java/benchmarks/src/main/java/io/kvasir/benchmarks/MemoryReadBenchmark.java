package io.kvasir.benchmarks;

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
 * How fast one thread reads memory that no cache holds: a scale for the others.
 *
 * <p>Confined to JMH's thread.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class MemoryReadBenchmark {

  /** Bytes that one invocation reads. */
  static final int BYTES_READ = 64 << 20;

  private static final int LONGS_READ = BYTES_READ / Long.BYTES;
  private static final int TURNS = 16;

  private long[] memory;
  private int turn;

  /** Makes the state; JMH fills it. */
  public MemoryReadBenchmark() {}

  /** Backs the memory, which is many times larger than caches are. */
  @Setup
  public void prepare() {
    memory = new long[TURNS * LONGS_READ];
    java.util.Arrays.fill(memory, 1);
  }

  /**
   * Adds up the next part of the memory, in large pages. Four sums, so that the additions do not
   * wait for each other.
   *
   * @return the sum
   */
  @Benchmark
  @Fork(jvmArgsAppend = "-XX:+UseTransparentHugePages")
  public long sum() {
    int begin = turn * LONGS_READ;
    turn = (turn + 1) % TURNS;
    long a = 0;
    long b = 0;
    long c = 0;
    long d = 0;
    for (int i = begin; i < begin + LONGS_READ; i += 4) {
      a += memory[i];
      b += memory[i + 1];
      c += memory[i + 2];
      d += memory[i + 3];
    }
    return a + b + c + d;
  }
}
