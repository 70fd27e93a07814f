package io.kvasir.engine.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.event.BlockEvent;
import io.kvasir.event.CacheGroup;
import io.kvasir.testing.harness.LongRuns;
import io.kvasir.testing.pool.Prompt;
import io.kvasir.testing.pool.RandomPrompts;
import io.kvasir.testing.pool.TestHash;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random leases of a hybrid pool, compared with sets of blocks that its events rebuild: look-ups
 * and leases match as far as the rule of each group says, block by block, and leases keep what they
 * need.
 */
public class HybridRandomTest {

  private static final long SEED = Long.getLong("kvasir.test.seed", 17);
  private static final int STEPS = LongRuns.cases(3_000, 100_000);
  private static final PoolShape SHAPE = new PoolShape(40, 2, 6, 12, 1_000);

  private final Random random = new Random(SEED);
  private final RandomPrompts prompts = new RandomPrompts(random, TestHash.STRONG, SHAPE);
  private final List<Running> running = new ArrayList<>();
  private final List<Set<Long>> held = new ArrayList<>();
  private long nextEvent;
  private int shortened;
  private int extended;

  /** A lease with its computed blocks. */
  private static final class Running {
    final int lease;
    final Prompt prompt;
    int blocks;
    int computed;

    Running(int lease, Prompt prompt, int blocks, int computed) {
      this.lease = lease;
      this.prompt = prompt;
      this.blocks = blocks;
      this.computed = computed;
    }
  }

  static List<List<PoolGroup>> groups() {
    return List.of(
        List.of(PoolGroup.window(4)),
        List.of(PoolGroup.window(9), PoolGroup.states(0)),
        List.of(PoolGroup.states(6), PoolGroup.window(2), PoolGroup.window(7)));
  }

  /** Makes the pool with full attention, which is closed with the pool around it. */
  protected BlockPool full(PoolShape shape) {
    return NativeBlockPool.create(shape);
  }

  @ParameterizedTest
  @MethodSource("groups")
  void matchesAreTheLongestThatAllGroupsAllow(List<PoolGroup> groups) {
    for (int i = 0; i <= groups.size(); i++) {
      held.add(new HashSet<>());
    }
    try (HybridBlockPool pool = new HybridBlockPool(full(SHAPE), groups)) {
      for (int step = 0; step < STEPS; step++) {
        change(pool, groups);
        pool.drainEvents(this::apply);
        check(pool, groups);
      }
    }
    assertThat(shortened).as("matches that a group shortens").isGreaterThan(STEPS / 100);
    assertThat(extended).as("leases that grow").isGreaterThan(STEPS / 100);
  }

  private void change(HybridBlockPool pool, List<PoolGroup> groups) {
    int kind = random.nextInt(200);
    if (kind == 0) {
      pool.clear();
      release(pool, IntStream.range(0, running.size()).toArray());
    } else if (kind < 80 && running.size() < SHAPE.maxLeases()) {
      start(pool, groups);
    } else if (kind < 140 && !running.isEmpty()) {
      Running each = running.get(random.nextInt(running.size()));
      int left = Math.min(each.blocks, each.prompt.blocks()) - each.computed;
      if (left == 0 && each.blocks < each.prompt.blocks()) {
        extend(pool, each);
      } else if (left > 0) {
        int to = each.computed + 1 + random.nextInt(left);
        CommitBatch batch = new CommitBatch();
        batch.add(each.lease, each.prompt.tokens(), each.prompt.names(), each.computed, to);
        pool.commit(batch);
        each.computed = to;
      }
    } else if (!running.isEmpty()) {
      release(pool, random.nextInt(running.size()));
    }
  }

  private void extend(HybridBlockPool pool, Running running) {
    ExtendBatch batch = new ExtendBatch();
    int more = 1 + random.nextInt(running.prompt.blocks() - running.blocks);
    batch.add(running.lease, more);
    pool.extend(batch);
    if (batch.granted(0)) {
      running.blocks += more;
      extended++;
    }
  }

  private void start(HybridBlockPool pool, List<PoolGroup> groups) {
    LeaseBatch batch = new LeaseBatch();
    List<Prompt> asked = new ArrayList<>();
    int most = SHAPE.maxLeases() - running.size();
    for (int i = 1 + random.nextInt(most); i > 0; i--) {
      Prompt prompt = prompts.next();
      asked.add(prompt);
      int blocks = Math.max(1, prompt.blocks() - random.nextInt(3));
      batch.add(prompt.tokens(), prompt.names(), prompt.scope(), prompt.blocks(), blocks, 0);
    }
    int[] matchable = IntStream.range(0, asked.size()).map(batch::matchableBlocks).toArray();
    pool.lease(batch);
    for (int i = 0; i < asked.size(); i++) {
      assertThat(batch.matchableBlocks(i)).as("what the caller asked for").isEqualTo(matchable[i]);
      if (batch.lease(i) != LeaseBatch.REFUSED) {
        int matched = batch.matchedBlocks(i);
        assertThat(matched)
            .as("seed %d", SEED)
            .isEqualTo(usable(asked.get(i), matchable[i], groups));
        running.add(new Running(batch.lease(i), asked.get(i), batch.blocks(i), matched));
      }
    }
  }

  private void release(HybridBlockPool pool, int... which) {
    int[] leases = IntStream.of(which).map(i -> running.get(i).lease).toArray();
    pool.release(leases, leases.length);
    for (int i = which.length - 1; i >= 0; i--) {
      running.remove(which[i]);
    }
  }

  private void apply(long number, BlockEvent event) {
    assertThat(number).isEqualTo(nextEvent++);
    if (event instanceof BlockEvent.Stored stored) {
      assertThat(held.get(0).add(stored.handles()[0])).isTrue();
    } else if (event instanceof BlockEvent.Removed removed) {
      assertThat(held.get(0).remove(removed.handles()[0])).isTrue();
    } else if (event instanceof BlockEvent.GroupStored stored) {
      assertThat(held.get(stored.group().index()).add(stored.hashes()[0])).isTrue();
    } else if (event instanceof BlockEvent.GroupRemoved removed) {
      assertThat(held.get(removed.group()).remove(removed.handles()[0])).isTrue();
    } else {
      held.forEach(Set::clear);
    }
  }

  private void check(HybridBlockPool pool, List<PoolGroup> groups) {
    assertThat(held).allMatch(blocks -> blocks.size() <= SHAPE.capacityBlocks());
    Prompt prompt = prompts.next();
    ProbeBatch probe = new ProbeBatch();
    probe.add(prompt.names(), prompt.blocks());
    int[] matched = new int[1];
    pool.probe(probe, matched, 0);
    assertThat(matched[0]).as("seed %d", SEED).isEqualTo(usable(prompt, groups));
    for (Running each : running) {
      for (int i = 0; i < groups.size(); i++) {
        int every = groups.get(i).everyBlocks(SHAPE.tokensPerBlock());
        assertThat(allows(each.prompt, each.computed / every * every, groups.get(i), i + 1))
            .as("what a lease needs")
            .isTrue();
      }
    }
  }

  private int usable(Prompt prompt, List<PoolGroup> groups) {
    return usable(prompt, prompt.blocks(), groups);
  }

  private int usable(Prompt prompt, int most, List<PoolGroup> groups) {
    int full = 0;
    while (full < most && held.get(0).contains(prompt.names()[full])) {
      full++;
    }
    int usable = longest(prompt, full, groups);
    shortened += usable < full ? 1 : 0;
    return usable;
  }

  /** The longest prefix of at most so many blocks, each length tried in turn. */
  private int longest(Prompt prompt, int most, List<PoolGroup> groups) {
    int length = most;
    while (length > 0 && !allAllow(prompt, length, groups)) {
      length--;
    }
    return length;
  }

  private boolean allAllow(Prompt prompt, int length, List<PoolGroup> groups) {
    boolean all = true;
    for (int i = 0; i < groups.size(); i++) {
      all &= allows(prompt, length, groups.get(i), i + 1);
    }
    return all;
  }

  private boolean allows(Prompt prompt, int length, PoolGroup group, int index) {
    boolean window = group.kind() == CacheGroup.Kind.WINDOW;
    int needed = window ? Math.max(1, (int) Math.ceil((group.tokens() - 1) / 2.0)) : 1;
    boolean all = true;
    for (int at = Math.max(0, length - needed); at < length; at++) {
      all &= held.get(index).contains(prompt.names()[at]);
    }
    return all;
  }
}
