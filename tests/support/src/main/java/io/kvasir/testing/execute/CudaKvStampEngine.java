package io.kvasir.testing.execute;

import io.kvasir.engine.device.DeviceApi;
import io.kvasir.engine.device.DeviceOutOfMemoryException;
import io.kvasir.engine.device.KernelArguments;
import io.kvasir.engine.device.ReleaseSteps;
import io.kvasir.engine.execute.StepEngine;
import io.kvasir.engine.execute.StepPlan;
import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.cuda.DeviceBlocks;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * {@link KvStampEngine} on a CUDA device: a kernel writes the words into the KV memory of the
 * leased blocks and folds them through the pool's block tables. The outputs are the same as those
 * of {@link KvStampEngine}.
 *
 * <p>A step is one launch after the pool's operations, on their stream, and one synchronisation.
 * Its entries and tokens are in page-locked memory that the kernel reads.
 *
 * <p>Confined to the rank's executor thread.
 */
public final class CudaKvStampEngine implements StepEngine, AutoCloseable {

  private static final int WARP = 32;
  private static final int INITIAL_BYTES = 1 << 16;

  // KvStampEntry of kv_stamp_core.hpp
  private static final int ENTRY_BYTES = 32;
  private static final int SCOPE_WORD = 0;
  private static final int LEASE = 8;
  private static final int CONTEXT_TOKENS = 12;
  private static final int NEW_TOKENS = 16;
  private static final int FIRST_TOKEN = 20;
  private static final int PRODUCES = 24;
  private static final int TOKEN = 28;

  private final BlockPool pool;
  private final DeviceBlocks blocks;
  private final DeviceApi.Kernel kernel;
  private final KernelArguments arguments = KernelArguments.words(7);
  private final PinnedBuffer staging;

  /** Whether the device may still use the staging memory. */
  private boolean running;

  /**
   * Creates an engine that computes in the blocks of a pool.
   *
   * @param pool the rank's pool; the engine makes it submit deferred operations
   * @param blocks device addresses of the pool
   * @param layers words per token
   * @param vocabulary upper bound of token ids, exclusive
   * @throws IllegalArgumentException if a number is less than 1, or a block has less KV memory than
   *     {@link #kvBytesPerBlock}
   * @throws DeviceOutOfMemoryException if page-locked memory is exhausted
   */
  public CudaKvStampEngine(BlockPool pool, DeviceBlocks blocks, int layers, int vocabulary) {
    if (layers < 1 || vocabulary < 1) {
      throw new IllegalArgumentException(
          "layers and vocabulary must be at least 1, not " + layers + ", " + vocabulary);
    }
    long wanted = kvBytesPerBlock(pool.shape().tokensPerBlock(), layers);
    if (blocks.kvBytesPerBlock() < wanted) {
      throw new IllegalArgumentException(
          "kvBytesPerBlock must be " + wanted + " at least, not " + blocks.kvBytesPerBlock());
    }
    this.pool = pool;
    this.blocks = blocks;
    this.kernel = blocks.device().kernel("kvasir_kv_stamp");
    this.staging = new PinnedBuffer(blocks.device(), INITIAL_BYTES);
    arguments.set(0, blocks.pool()).set(1, blocks.kv()).set(2, layers).set(3, vocabulary);
  }

  /**
   * KV memory that the engine needs.
   *
   * @param tokensPerBlock of the pool
   * @param layers words per token
   * @return bytes per block
   */
  public static long kvBytesPerBlock(int tokensPerBlock, int layers) {
    return (long) tokensPerBlock * layers * Long.BYTES;
  }

  /** Runs the step; every step reports one millisecond. */
  @Override
  public long step(StepPlan plan) {
    DeviceApi device = blocks.device();
    if (running) {
      await(); // for an earlier step, whose wait failed
    }
    ByteBuffer staged = stage(plan);
    int count = plan.size();
    arguments
        .set(4, staging.address() + (long) count * ENTRY_BYTES)
        .set(5, staging.address())
        .set(6, count);
    pool.submit();
    running = true;
    device.launch(blocks.stream(), kernel, count, WARP, arguments);
    await();
    for (int i = 0; i < count; i++) {
      if (plan.producesToken(i)) {
        plan.produce(i, staged.getInt(i * ENTRY_BYTES + TOKEN));
      }
    }
    return KvStampEngine.STEP_NS;
  }

  private void await() {
    blocks.device().synchronize(blocks.stream());
    running = false;
  }

  /** Frees the staging memory, after a step that may still run. The pool must not be closed yet. */
  @Override
  public void close() {
    if (running) {
      ReleaseSteps.onceIdle(blocks.device(), blocks.stream(), List.of(staging::close));
    } else {
      staging.close();
    }
  }

  /** Lays out the entries, followed by the new tokens of all entries. */
  private ByteBuffer stage(StepPlan plan) {
    long tokens = 0;
    for (int i = 0; i < plan.size(); i++) {
      tokens += plan.newTokens(i);
    }
    ByteBuffer staged = staging.room((long) plan.size() * ENTRY_BYTES + tokens * Integer.BYTES);
    int firstToken = 0;
    int tokenAt = plan.size() * ENTRY_BYTES;
    for (int i = 0; i < plan.size(); i++) {
      int entry = i * ENTRY_BYTES;
      int from = plan.contextTokens(i);
      int count = plan.newTokens(i);
      staged.putLong(entry + SCOPE_WORD, KvStampWords.scope(plan.scope(i)));
      staged.putInt(entry + LEASE, plan.lease(i));
      staged.putInt(entry + CONTEXT_TOKENS, from);
      staged.putInt(entry + NEW_TOKENS, count);
      staged.putInt(entry + FIRST_TOKEN, firstToken);
      staged.putInt(entry + PRODUCES, plan.producesToken(i) ? 1 : 0);
      int[] sequence = plan.tokens(i);
      for (int position = from; position < from + count; position++) {
        staged.putInt(tokenAt, sequence[position]);
        tokenAt += Integer.BYTES;
      }
      firstToken += count;
    }
    return staged;
  }
}
