package io.kvasir.engine.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvasir.testing.pool.Prompt;
import io.kvasir.testing.pool.RandomPrompts;
import io.kvasir.testing.pool.TestHash;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** A random sequence of operations on a pool and on the naive pool, compared at every step. */
public final class RandomPoolRun {

  private static final int TRAIL = 12;

  private final BlockPool subject;
  private final NaiveBlockPool oracle;
  private final TestHash hash;
  private final PoolShape shape;
  private final long seed;
  private final Random random;
  private final RandomPrompts prompts;
  private final PoolAudit audit;
  private final List<LiveLease> live = new ArrayList<>();
  private final ArrayDeque<String> trail = new ArrayDeque<>();
  private final LeaseBatch[] wants = {new LeaseBatch(), new LeaseBatch()};
  private final ExtendBatch[] growths = {new ExtendBatch(), new ExtendBatch()};
  private final CommitBatch[] commits = {new CommitBatch(), new CommitBatch()};
  private long operations;

  public RandomPoolRun(BlockPool subject, TestHash hash, long seed) {
    this.subject = subject;
    this.oracle = new NaiveBlockPool(subject.shape());
    this.hash = hash;
    this.shape = subject.shape();
    this.seed = seed;
    this.random = new Random(seed);
    this.prompts = new RandomPrompts(random, hash, shape);
    this.audit = new PoolAudit(subject, oracle, hash);
  }

  /** Runs; an error tells the seed and the last operations. */
  public void run(int steps) {
    run(steps, 1);
  }

  /** Looks at the pool only after every so many steps, which leaves it free to put things off. */
  public void run(int steps, int stepsPerAudit) {
    int step = 0;
    try {
      for (; step < steps; step++) {
        step();
        if ((step + 1) % stepsPerAudit != 0) {
          continue;
        }
        audit.check(live, prompts.known(), operations);
        if (random.nextInt(4) != 0) {
          audit.checkEvents(prompts.known());
        }
      }
      finish();
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError(
          "-Dkvasir.test.seed=%d, %s, %s, step %d: %s%nlast operations:%n%s"
              .formatted(seed, shape, hash, step, e.getMessage(), String.join("\n", trail)),
          e);
    }
  }

  private void step() {
    int choice = random.nextInt(100);
    if (choice < 36) {
      lease();
    } else if (choice < 54) {
      extend();
    } else if (choice < 78) {
      commit();
    } else if (choice < 95) {
      release();
    } else if (choice < 96) {
      log("clear");
      subject.clear();
      oracle.clear();
    } else {
      reject();
    }
  }

  /** In the end nothing is leased, and after a clear everything is free. */
  private void finish() {
    releaseAll(new ArrayList<>(live));
    audit.check(live, prompts.known(), operations);
    assertThat(subject.occupancy().activeBlocks()).isZero();
    audit.checkEvents(prompts.known());
    subject.clear();
    oracle.clear();
    audit.check(live, prompts.known(), operations);
    audit.checkEvents(prompts.known());
    assertThat(subject.occupancy().freeBlocks()).isEqualTo(shape.capacityBlocks());
  }

  private void lease() {
    wants[0].clear();
    wants[1].clear();
    int size = 1 + random.nextInt(4);
    List<Prompt> asked = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      boolean sibling = i > 0 && random.nextInt(3) == 0;
      Prompt prompt = sibling ? asked.get(i - 1) : prompts.next();
      asked.add(prompt);
      addWant(prompt);
    }
    subject.lease(wants[0]);
    oracle.lease(wants[1]);
    for (int i = 0; i < size; i++) {
      int lease = wants[0].lease(i);
      int matched = wants[1].matchedBlocks(i);
      assertThat(lease == LeaseBatch.REFUSED)
          .as("request %d refused", i)
          .isEqualTo(wants[1].lease(i) == LeaseBatch.REFUSED);
      assertThat(wants[0].matchedBlocks(i))
          .as("matched blocks of request %d", i)
          .isEqualTo(matched);
      assertThat(wants[0].missingBlocks(i))
          .as("missing blocks of request %d", i)
          .isEqualTo(wants[1].missingBlocks(i));
      if (lease != LeaseBatch.REFUSED) {
        operations++;
        int blocks = wants[0].blocks(i);
        int reserved = wants[0].reserveBlocks(i);
        live.add(new LiveLease(lease, wants[1].lease(i), asked.get(i), blocks, reserved, matched));
      }
    }
  }

  private void addWant(Prompt prompt) {
    int tokens = 1 + random.nextInt(prompt.tokens().length);
    int blocks = (tokens + shape.tokensPerBlock() - 1) / shape.tokensPerBlock();
    int matchable = (tokens - 1) / shape.tokensPerBlock();
    if (random.nextInt(6) == 0) {
      matchable = random.nextInt(1 + prompt.blocks());
    }
    int room = shape.maxBlocksPerLease() - blocks;
    int reserve = random.nextInt(2) == 0 ? 0 : random.nextInt(1 + Math.min(4, room));
    log("lease " + blocks + " blocks, " + matchable + " matchable, " + reserve + " reserved");
    Prompt copy = RandomPrompts.copy(prompt, matchable, shape.tokensPerBlock());
    for (LeaseBatch batch : wants) {
      batch.add(copy.tokens(), copy.names(), copy.scope(), matchable, blocks, reserve);
    }
  }

  private void extend() {
    growths[0].clear();
    growths[1].clear();
    List<LiveLease> asked = new ArrayList<>();
    for (LiveLease lease : someLeases()) {
      int room = shape.maxBlocksPerLease() - lease.blocks;
      if (room > 0) {
        int more = 1 + random.nextInt(Math.min(room, 4));
        log("extend " + lease.oracle + " by " + more + ", " + lease.reserved + " reserved");
        growths[0].add(lease.subject, more);
        growths[1].add(lease.oracle, more);
        asked.add(lease);
      }
    }
    subject.extend(growths[0]);
    oracle.extend(growths[1]);
    for (int i = 0; i < asked.size(); i++) {
      assertThat(growths[0].missingBlocks(i))
          .as("missing blocks of extension %d", i)
          .isEqualTo(growths[1].missingBlocks(i));
      if (growths[0].granted(i)) {
        operations++;
        asked.get(i).grow(growths[0].blocks(i));
      }
    }
  }

  private void commit() {
    commits[0].clear();
    commits[1].clear();
    for (LiveLease lease : someLeases()) {
      int room = lease.committable() - lease.committed;
      if (room > 0) {
        int to = lease.committed + 1 + (random.nextBoolean() ? room - 1 : random.nextInt(room));
        log("commit " + lease.oracle + " from " + lease.committed + " to " + to);
        Prompt copy = RandomPrompts.copy(lease.prompt, to, shape.tokensPerBlock());
        commits[0].add(lease.subject, copy.tokens(), copy.names(), lease.committed, to);
        commits[1].add(lease.oracle, copy.tokens(), copy.names(), lease.committed, to);
        lease.committed = to;
      }
    }
    subject.commit(commits[0]);
    oracle.commit(commits[1]);
  }

  private void release() {
    releaseAll(someLeases());
  }

  private void releaseAll(List<LiveLease> leaving) {
    log("release " + leaving.stream().map(lease -> lease.oracle).toList());
    int count = leaving.size();
    subject.release(leaving.stream().mapToInt(lease -> lease.subject).toArray(), count);
    oracle.release(leaving.stream().mapToInt(lease -> lease.oracle).toArray(), count);
    live.removeAll(leaving);
    operations += count;
  }

  /** Something invalid, behind something valid: nothing of it may happen. */
  private void reject() {
    if (live.isEmpty()) {
      return;
    }
    LiveLease lease = live.get(random.nextInt(live.size()));
    log("invalid uses of " + lease.oracle);
    int room = shape.maxBlocksPerLease() - lease.blocks;
    for (boolean naive : new boolean[] {false, true}) {
      BlockPool pool = naive ? oracle : subject;
      int number = naive ? lease.oracle : lease.subject;
      rejects(() -> pool.release(new int[] {number, -1}, 2));
      rejects(() -> pool.release(new int[] {number, number}, 2));
      rejects(() -> pool.extend(growth(number, room + 1)));
      if (lease.committable() > lease.committed + 1) {
        rejects(() -> pool.commit(naming(lease, number, lease.committed + 1)));
      }
      if (lease.committed > 0) {
        rejects(() -> pool.commit(naming(lease, number, lease.committed - 1)));
      }
    }
  }

  private static void rejects(Runnable use) {
    assertThatIllegalArgumentException().isThrownBy(use::run);
  }

  private static ExtendBatch growth(int lease, int blocks) {
    ExtendBatch batch = new ExtendBatch();
    batch.add(lease, blocks);
    return batch;
  }

  private static CommitBatch naming(LiveLease lease, int number, int from) {
    CommitBatch batch = new CommitBatch();
    batch.add(number, lease.prompt.tokens(), lease.prompt.names(), from, from + 1);
    return batch;
  }

  private List<LiveLease> someLeases() {
    List<LiveLease> some = new ArrayList<>(live);
    Collections.shuffle(some, random);
    return some.subList(0, some.isEmpty() ? 0 : random.nextInt(1 + Math.min(5, some.size())));
  }

  private void log(String operation) {
    trail.addLast(operation);
    if (trail.size() > TRAIL) {
      trail.removeFirst();
    }
  }
}
