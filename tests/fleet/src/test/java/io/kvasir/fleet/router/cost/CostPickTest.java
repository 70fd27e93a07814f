package io.kvasir.fleet.router.cost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class CostPickTest {

  private static final int DRAWS = 30_000;

  @Test
  void takesTheOnlyMinimum() {
    for (int id = 0; id < 1_000; id++) {
      assertThat(pick(id, 2, 1, 3).lowest()).isEqualTo(1);
    }
  }

  @Test
  void equalsAreEquallyLikely() {
    int[] drawn = new int[5];
    for (int id = 0; id < DRAWS; id++) {
      drawn[pick(id, 1, 4, 1, 1, 9).lowest()]++;
    }
    assertThat(drawn[1]).isZero();
    assertThat(drawn[4]).isZero();
    for (int i : new int[] {0, 2, 3}) {
      assertThat(drawn[i] / (double) DRAWS).isCloseTo(1 / 3.0, within(0.011));
    }
  }

  @Test
  void theSameRequestIsAlwaysDrawnTheSame() {
    for (int id = -500; id < 500; id++) {
      assertThat(pick(id, 1, 1, 1, 1).lowest()).isEqualTo(pick(id, 1, 1, 1, 1).lowest());
      assertThat(pick(id, 1, 2, 3).softmax(1)).isEqualTo(pick(id, 1, 2, 3).softmax(1));
    }
  }

  private static CostPick pick(long id, double... costs) {
    CostPick pick = new CostPick(costs.length, id);
    for (double cost : costs) {
      pick.add(cost);
    }
    return pick;
  }
}
