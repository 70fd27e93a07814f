package io.kvasir.simulator.compare;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.simulator.replay.EngineDelays.Fault;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class EngineKindTest {

  @Test
  void delaysAreSpreadOverTheRanks() {
    assertThat(ranks(EngineKind.AS_EXPECTED, 8)).isEmpty();
    assertThat(ranks(EngineKind.SLOWER, 3)).containsExactly(0, 1, 2);
    assertThat(ranks(EngineKind.TWO_CLASSES, 8)).containsExactly(0, 2, 4, 6);
    assertThat(ranks(EngineKind.SLOW_RANKS, 8)).containsExactly(0);
    assertThat(ranks(EngineKind.SLOW_RANKS, 64)).hasSize(8);
    assertThat(ranks(EngineKind.HANGS, 8)).containsExactly(0, 4);
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = "AS_EXPECTED", mode = EnumSource.Mode.EXCLUDE)
  void oneRankIsEnough(EngineKind kind) {
    assertThat(ranks(kind, 1)).containsExactly(0);
  }

  private static List<Integer> ranks(EngineKind kind, int ranks) {
    return kind.delays(ranks).faults().stream().map(Fault::rank).toList();
  }
}
