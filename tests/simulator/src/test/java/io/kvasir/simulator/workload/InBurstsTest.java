package io.kvasir.simulator.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class InBurstsTest {

  private static final long SECOND = 1_000_000_000;

  /** Arrivals at times that a test gives, the last of which depends on an answer. */
  private static final class Given implements Arrivals {
    private final List<Long> timesNs;
    private int next;

    Given(Long... timesNs) {
      this.timesNs = new ArrayList<>(List.of(timesNs));
    }

    @Override
    public long nextNs() {
      return next < timesNs.size() ? timesNs.get(next) : NEVER;
    }

    @Override
    public HashedRequest next() {
      next++;
      return null;
    }

    @Override
    public void onFinished(Request request, int[] outputTokens, long nowNs) {
      timesNs.add(nowNs + SECOND);
    }

    @Override
    public void onRejected(Request request, long nowNs) {}

    @Override
    public void close() {}
  }

  private record GivenWorkload(Arrivals arrivals) implements Workload {
    @Override
    public String name() {
      return "given";
    }

    @Override
    public Map<String, Object> parameters() {
      return Map.of("a", 1);
    }

    @Override
    public long plannedRequests() {
      return 4;
    }

    @Override
    public Arrivals start(RequestPreparation preparation) {
      return arrivals;
    }
  }

  @Test
  void requestsOfAPeriodArriveTogetherAtItsEndInTheirOrder() {
    Workload bursts =
        new InBursts(
            new GivenWorkload(new Given(0L, 5 * SECOND, 10 * SECOND - 1, 10 * SECOND)), 10);
    assertThat(bursts.parameters()).containsEntry("a", 1).containsEntry("burstSeconds", 10.0);
    Arrivals arrivals = bursts.start(null);
    List<Long> times = new ArrayList<>();
    while (arrivals.nextNs() != Arrivals.NEVER) {
      times.add(arrivals.nextNs());
      arrivals.next();
    }
    assertThat(times)
        .containsExactly(10 * SECOND, 10 * SECOND + SECOND / 2, 11 * SECOND - 1, 20 * SECOND);
    assertThat(arrivals.nextNs()).isEqualTo(Arrivals.NEVER);
  }

  @Test
  void aRequestThatFollowsAnAnswerIsNotBeforeIt() {
    Arrivals arrivals = new InBursts(new GivenWorkload(new Given(0L)), 10).start(null);
    arrivals.next();
    for (long nowNs = 10 * SECOND; nowNs < 40 * SECOND; nowNs += 700_000_001) {
      arrivals.onFinished(null, new int[0], nowNs);
      assertThat(arrivals.nextNs()).isGreaterThan(nowNs).isLessThan(nowNs + 13 * SECOND);
      arrivals.next();
    }
  }

  @Test
  void aPeriodIsAboveZero() {
    assertThatThrownBy(() -> new InBursts(new GivenWorkload(new Given()), 0))
        .hasMessageContaining("bursts must be");
  }
}
