package io.kvasir.fleet.router.booking;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class DeadlinePlanTest {

  private static final long SEED = Long.getLong("kvasir.test.seed", 14);

  /** When work can begin, by a loop over the ranks. */
  private static double slowStartMs(double[] backlogsMs, double beforeMs, double pace) {
    double[] sorted = backlogsMs.clone();
    Arrays.sort(sorted);
    double free = 0;
    for (int ranks = 1; ranks <= sorted.length; ranks++) {
      free += sorted[ranks - 1];
      double start = (beforeMs / pace + free) / ranks;
      if (ranks == sorted.length || start <= sorted[ranks]) {
        return start;
      }
    }
    return 0;
  }

  private static double[] backlogs(SplittableRandom random) {
    double[] backlogs = new double[1 + random.nextInt(60)];
    boolean rough = random.nextBoolean(); // many equal ones
    for (int i = 0; i < backlogs.length; i++) {
      double backlog = random.nextInt(3) == 0 ? 0 : random.nextDouble() * 1000;
      backlogs[i] = rough ? Math.rint(backlog / 250) * 250 / 3 : backlog;
    }
    return backlogs;
  }

  @Test
  void workBeginsWhenALoopOverAllRanksSaysSo() {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int round = 0; round < 20_000; round++) {
      double[] backlogs = backlogs(random);
      double pace = 0.25 + random.nextInt(16) / 4.0;
      DeadlinePlan plan = new DeadlinePlan(List.of(), 0, backlogs, pace);
      for (double before : new double[] {0, 1e-12, random.nextDouble() * 20_000, edge(backlogs)}) {
        assertThat(plan.startMs(before))
            .as("%s before %s, -Dkvasir.test.seed=%d", before, Arrays.toString(backlogs), SEED)
            .isEqualTo(slowStartMs(backlogs, before, pace));
      }
    }
  }

  /** Work that fills the gaps of all ranks exactly. */
  private static double edge(double[] backlogsMs) {
    double most = Arrays.stream(backlogsMs).max().orElse(0);
    return Arrays.stream(backlogsMs).map(backlog -> most - backlog).sum();
  }
}
