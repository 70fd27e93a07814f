package io.kvasir.testing.pool;

import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.CommitBatch;
import io.kvasir.engine.pool.LeaseBatch;
import io.kvasir.engine.pool.ProbeBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Random requests that lease, commit and release blocks of a pool, with an occasional clear. Not
 * thread-safe.
 */
public final class PoolChurn {

  private final BlockPool pool;
  private final Random random;
  private final RandomPrompts prompts;
  private final List<Integer> leases = new ArrayList<>();
  private final ProbeBatch probes = new ProbeBatch();

  /**
   * Creates a workload without requests.
   *
   * @param pool the pool; not closed here
   * @param seed of all random decisions
   */
  public PoolChurn(BlockPool pool, long seed) {
    this.pool = pool;
    this.random = new Random(seed);
    this.prompts = new RandomPrompts(random, TestHash.STRONG, pool.shape());
  }

  /** Starts or ends a request, or clears the pool. */
  public void step() {
    if (random.nextInt(60) == 0) {
      pool.clear();
    } else {
      comeOrGo();
    }
  }

  /** Starts or ends a request. */
  public void comeOrGo() {
    if (random.nextInt(100) < 58 || leases.isEmpty()) {
      come();
    } else {
      pool.release(new int[] {leases.remove(random.nextInt(leases.size()))}, 1);
    }
  }

  private void come() {
    Prompt prompt = prompts.next();
    LeaseBatch batch = new LeaseBatch();
    int blocks = Math.max(1, prompt.blocks());
    batch.add(prompt.tokens(), prompt.names(), prompt.scope(), prompt.blocks(), blocks, 0);
    pool.lease(batch);
    if (batch.lease(0) == LeaseBatch.REFUSED) {
      return;
    }
    leases.add(batch.lease(0));
    if (batch.matchedBlocks(0) == prompt.blocks()) {
      return;
    }
    CommitBatch commit = new CommitBatch();
    commit.add(
        batch.lease(0), prompt.tokens(), prompt.names(), batch.matchedBlocks(0), prompt.blocks());
    pool.commit(commit);
  }

  /**
   * One of the latest prompts.
   *
   * @param by source of randomness
   * @return the prompt
   */
  public Prompt randomPrompt(Random by) {
    List<Prompt> known = prompts.known();
    return known.isEmpty() ? prompts.next() : known.get(by.nextInt(known.size()));
  }

  /**
   * A probe of the latest prompts.
   *
   * @return the batch; the next call fills it again
   */
  public ProbeBatch probes() {
    probes.clear();
    for (Prompt prompt : prompts.known()) {
      probes.add(prompt.names(), prompt.blocks());
    }
    return probes;
  }

  /**
   * Matched blocks in the pool for each of {@link #probes}.
   *
   * @return the matches, in the order of the batch
   */
  public int[] matched() {
    ProbeBatch batch = probes();
    int[] matched = new int[batch.size()];
    pool.probe(batch, matched, 0);
    return matched;
  }
}
