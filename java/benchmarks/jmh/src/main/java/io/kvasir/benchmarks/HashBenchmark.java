package io.kvasir.benchmarks;

import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;
import io.kvasir.hash.BlockHasher;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import net.openhft.hashing.LongHashFunction;
import org.bytedeco.javacpp.Pointer;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * Hashes a prompt of 8,192 tokens in the {@code kvasir} format: the native hasher, JNI included,
 * against Java libraries that compute XXH3 of each block on the input form that suits them best.
 *
 * <p>Confined to JMH's thread.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(HashBenchmark.PROMPTS)
public class HashBenchmark {

  static final int PROMPTS = 8;
  static final int PROMPT_BYTES = 32768;

  private static final int PROMPT_TOKENS = PROMPT_BYTES / Integer.BYTES;

  private static final LongHashFunction XX3 = LongHashFunction.xx3();
  private static final Hasher64 HASH4J = Hashing.xxh3_64();

  /** Tokens in a block. */
  @Param({"16", "32", "64"})
  public int tokensPerBlock;

  private final int[][] tokens = new int[PROMPTS][];
  private final byte[][] bytes = new byte[PROMPTS][];
  private final ByteBuffer[] memory = new ByteBuffer[PROMPTS];
  private final long[] addresses = new long[PROMPTS];
  private int blockBytes;
  private long[] local;
  private long[] sequence;
  private BlockHasher hasher;

  /** Creates the state; JMH fills it. */
  public HashBenchmark() {}

  /** Generates the prompts as ints, bytes and off-heap memory. */
  @Setup
  public void prepare() {
    blockBytes = tokensPerBlock * Integer.BYTES;
    local = new long[PROMPT_TOKENS / tokensPerBlock];
    sequence = new long[PROMPT_TOKENS / tokensPerBlock];
    hasher = NativeBlockHasher.of(HashFormat.KVASIR, tokensPerBlock);
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < PROMPTS; i++) {
      tokens[i] = random.ints(PROMPT_TOKENS, 0, 128_000).toArray();
      bytes[i] = new byte[PROMPT_BYTES];
      ByteBuffer.wrap(bytes[i]).order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().put(tokens[i]);
      memory[i] = ByteBuffer.allocateDirect(bytes[i].length);
      memory[i].put(0, bytes[i]);
    }
    kvasirNative();
    for (int i = 0; i < PROMPTS; i++) {
      addresses[i] = new Pointer(memory[i]).address();
    }
  }

  /**
   * Kvasir's native hasher over the int array, one JNI call.
   *
   * @return the last prompt's sequence hashes
   */
  @Benchmark
  public long[] kvasirNative() {
    for (int[] prompt : tokens) {
      hasher.hashBlocks(CacheScope.NONE, prompt, 0, sequence.length, local, sequence);
    }
    return sequence;
  }

  /**
   * zero-allocation-hashing over the int array.
   *
   * @return the last prompt's sequence hashes
   */
  @Benchmark
  public long[] zeroAllocationInts() {
    int count = tokensPerBlock;
    for (int[] prompt : tokens) {
      JavaBlockHash.hash(block -> XX3.hashInts(prompt, block * count, count), local, sequence);
    }
    return sequence;
  }

  /**
   * zero-allocation-hashing over off-heap memory.
   *
   * @return the last prompt's sequence hashes
   */
  @Benchmark
  public long[] zeroAllocationMemory() {
    int count = blockBytes;
    for (long prompt : addresses) {
      JavaBlockHash.hash(
          block -> XX3.hashMemory(prompt + (long) block * count, count), local, sequence);
    }
    return sequence;
  }

  /**
   * hash4j over a byte array.
   *
   * @return the last prompt's sequence hashes
   */
  @Benchmark
  public long[] hash4jBytes() {
    int count = blockBytes;
    for (byte[] prompt : bytes) {
      JavaBlockHash.hash(
          block -> HASH4J.hashBytesToLong(prompt, block * count, count), local, sequence);
    }
    return sequence;
  }
}
