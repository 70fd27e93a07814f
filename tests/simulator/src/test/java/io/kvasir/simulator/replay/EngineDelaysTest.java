package io.kvasir.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.simulator.replay.EngineDelays.Fault;
import java.util.List;
import org.junit.jupiter.api.Test;

class EngineDelaysTest {

  private static final long S = 1_000_000_000;
  private static final double HANG = Double.POSITIVE_INFINITY;

  private static EngineDelays faults(Fault... faults) {
    return new EngineDelays(List.of(faults));
  }

  @Test
  void slowStepsTakeAMultipleOfTheirTime() {
    EngineDelays slow = faults(new Fault(1, 2, 10, 20, 0));
    assertThat(slow.durationNs(1, 9 * S, S)).isEqualTo(S);
    assertThat(slow.durationNs(1, 10 * S, S)).isEqualTo(2 * S);
    assertThat(slow.durationNs(1, 20 * S, S)).isEqualTo(S);
    assertThat(slow.durationNs(0, 10 * S, S)).isEqualTo(S);
    EngineDelays again = faults(new Fault(1, 2, 10, 20, 60));
    assertThat(again.durationNs(1, 75 * S, S)).isEqualTo(2 * S);
    assertThat(again.durationNs(1, 85 * S, S)).isEqualTo(S);
  }

  @Test
  void stepsEndLaterByTheTimeOfAHang() {
    EngineDelays hang = faults(new Fault(0, HANG, 10, 20, 0));
    assertThat(hang.durationNs(0, 9 * S, S)).as("ends when it begins").isEqualTo(S);
    assertThat(hang.durationNs(0, 9 * S, 2 * S)).isEqualTo(12 * S);
    assertThat(hang.durationNs(0, 15 * S, S)).isEqualTo(6 * S);
    assertThat(hang.durationNs(0, 20 * S, S)).isEqualTo(S);
    EngineDelays again = faults(new Fault(0, HANG, 10, 20, 30));
    assertThat(again.durationNs(0, 75 * S, S)).as("70 to 80").isEqualTo(6 * S);
    assertThat(again.durationNs(0, 15 * S, 25 * S)).as("two of them").isEqualTo(40 * S);
  }

  @Test
  void aSlowRankMayHang() {
    EngineDelays both =
        faults(new Fault(0, HANG, 10, 20, 0)).and(faults(new Fault(0, 3, 0, 30, 0)));
    assertThat(both.durationNs(0, 9 * S, S)).isEqualTo(13 * S);
    assertThat(both.durationNs(0, 21 * S, S)).isEqualTo(3 * S);
  }

  @Test
  void rangesAreChecked() {
    assertThatThrownBy(() -> new Fault(-1, 2, 0, 1, 0)).hasMessageContaining("rank");
    assertThatThrownBy(() -> new Fault(0, 0, 0, 1, 0)).hasMessageContaining("factor");
    assertThatThrownBy(() -> new Fault(0, 2, 1, 1, 0)).hasMessageContaining("TO");
    assertThatThrownBy(() -> new Fault(0, 2, 0, 1, 1)).hasMessageContaining("EVERY");
  }
}
