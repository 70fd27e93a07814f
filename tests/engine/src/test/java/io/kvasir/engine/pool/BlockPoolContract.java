package io.kvasir.engine.pool;

import io.kvasir.testing.harness.LongRuns;
import io.kvasir.testing.pool.TestHash;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What every {@link BlockPool} must do: one interface per topic with readable cases, and random
 * operation sequences compared with {@link NaiveBlockPool}.
 *
 * <p>A failure prints its seed. {@code -Dkvasir.test.seed=N} repeats it.
 */
public abstract class BlockPoolContract
    implements MatchContract,
        LeaseContract,
        ExtendContract,
        CommitContract,
        EvictionContract,
        EventContract,
        ReadContract {

  private static final int STEPS = LongRuns.cases(400, 10_000);

  static List<PoolShape> shapes() {
    return List.of(
        new PoolShape(24, 4, 4, 12, 4096),
        new PoolShape(200, 2, 16, 16, 4096),
        new PoolShape(67, 3, 9, 9, 4096),
        new PoolShape(7, 1, 3, 7, 5),
        new PoolShape(40, 2, 6, 50, 0));
  }

  @ParameterizedTest
  @MethodSource("shapes")
  void agreesWithTheNaivePool(PoolShape shape) {
    compare(shape, TestHash.STRONG);
  }

  @ParameterizedTest
  @MethodSource("shapes")
  void agreesWithTheNaivePoolWhenBlockHashesCollide(PoolShape shape) {
    compare(shape, TestHash.WEAK_BLOCKS);
  }

  @ParameterizedTest
  @MethodSource("shapes")
  void agreesWithTheNaivePoolWhenAnyNamesCollide(PoolShape shape) {
    compare(shape, TestHash.WEAK_NAMES);
  }

  private void compare(PoolShape shape, TestHash hash) {
    long seed = Long.getLong("kvasir.test.seed", System.nanoTime());
    try (BlockPool pool = create(shape)) {
      new RandomPoolRun(pool, hash, seed).run(STEPS);
    }
  }
}
