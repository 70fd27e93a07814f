package io.kvasir.benchmarks;

import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.CommitBatch;
import io.kvasir.engine.pool.ExtendBatch;
import io.kvasir.engine.pool.LeaseBatch;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.hash.BlockHasher;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The pool work of executor iterations: 64 requests decode one token each; one request ends and
 * another replaces it. An iteration commits four computed chunks, releases one lease, leases one
 * prompt and extends four leases by a block. Prompts repeat, and the pool is full.
 *
 * <p>Not thread-safe. The operations are the same for every pool.
 */
final class PoolIteration {

  private static final int RUNNING = 64;
  private static final int TOKENS_PER_BLOCK = 16;
  private static final int GROWN_BLOCKS = RUNNING / TOKENS_PER_BLOCK;
  private static final int POOL_FACTOR = 4;
  private static final int CONVERSATIONS = 2 * POOL_FACTOR * RUNNING;
  private static final int WARM_UP = 5 * RUNNING;

  private static final class Sequence {
    private final int[] tokens;
    private final long[] hashes;

    Sequence(int[] tokens, long[] hashes) {
      this.tokens = tokens;
      this.hashes = hashes;
    }
  }

  private static final class Running {
    private final Sequence sequence;
    private final int lease;
    private final int matchedBlocks;
    private int age;

    Running(Sequence sequence, int lease, int matchedBlocks) {
      this.sequence = sequence;
      this.lease = lease;
      this.matchedBlocks = matchedBlocks;
    }
  }

  private final BlockPool pool;
  private final int promptBlocks;
  private final List<Sequence> conversations = new ArrayList<>();
  private final SplittableRandom random = new SplittableRandom(1);
  private final Deque<Running> running = new ArrayDeque<>();
  private final CommitBatch commits = new CommitBatch();
  private final ExtendBatch extensions = new ExtendBatch();
  private final LeaseBatch leases = new LeaseBatch();
  private final int[] ended = new int[1];

  PoolIteration(BlockPool pool, int promptBlocks) {
    this.pool = pool;
    this.promptBlocks = promptBlocks;
    BlockHasher hasher = NativeBlockHasher.of(HashFormat.KVASIR, TOKENS_PER_BLOCK);
    int tokens = (promptBlocks + GROWN_BLOCKS) * TOKENS_PER_BLOCK;
    for (int i = 0; i < CONVERSATIONS; i++) {
      int[] conversation = random.ints(tokens).toArray();
      conversations.add(
          new Sequence(conversation, hasher.hash(conversation, CacheScope.NONE).sequence()));
    }
  }

  /** The shape of a pool that fits this work. */
  static PoolShape shape(int promptBlocks) {
    int blocks = promptBlocks + GROWN_BLOCKS;
    return new PoolShape(POOL_FACTOR * RUNNING * blocks, TOKENS_PER_BLOCK, RUNNING + 1, blocks, 0);
  }

  /** The median after a warm-up. */
  double medianUs(int iterations) {
    run(WARM_UP);
    return Figures.medianUs(run(iterations));
  }

  /** Nanoseconds of each iteration. */
  long[] run(int iterations) {
    long[] ns = new long[iterations];
    for (int i = 0; i < iterations; i++) {
      ns[i] = iterate();
    }
    return ns;
  }

  private long iterate() {
    prepare();
    Sequence next = conversations.get(random.nextInt(CONVERSATIONS));
    leases.clear();
    leases.add(next.tokens, next.hashes, CacheScope.NONE, promptBlocks, promptBlocks, GROWN_BLOCKS);
    long from = System.nanoTime();
    pool.commit(commits);
    if (running.size() == RUNNING) {
      ended[0] = running.remove().lease;
      pool.release(ended, 1);
    }
    pool.lease(leases, extensions);
    pool.settle();
    long ns = System.nanoTime() - from;
    if (leases.lease(0) == LeaseBatch.REFUSED) {
      throw new IllegalStateException("a lease was refused");
    }
    running.add(new Running(next, leases.lease(0), leases.matchedBlocks(0)));
    return ns;
  }

  /** Every sixteenth token fills a block, which is committed, and requires another block. */
  private void prepare() {
    commits.clear();
    extensions.clear();
    for (Running request : running) {
      if (request.age % TOKENS_PER_BLOCK == 0 && request.age < RUNNING - 1) {
        int blocks = promptBlocks + request.age / TOKENS_PER_BLOCK;
        int named = request.age == 0 ? request.matchedBlocks : blocks - 1;
        if (named < blocks) {
          Sequence sequence = request.sequence;
          commits.add(request.lease, sequence.tokens, sequence.hashes, named, blocks);
        }
        extensions.add(request.lease, 1);
      }
      request.age++;
    }
  }
}
