package io.kvasir.fleet.router.whatif;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class AskedRoutersTest {

  private static final long MINUTE = 60_000_000_000L;

  @Test
  void requestsWithoutASignOfLifeForFiveMinutesAreStale() {
    AskedRouters routers = new AskedRouters(List.of(), 0);
    routers.begin(7, new long[0], 0);
    routers.begin(8, new long[0], 0);
    assertThat(routers.stale(4 * MINUTE)).isEmpty();
    routers.onAlive(7, 4 * MINUTE);
    routers.onTokens(8, 1, 3 * MINUTE);
    assertThat(routers.stale(8 * MINUTE)).containsExactly(8L);
    routers.finish(8, false, VirtualSteps.UNKNOWN);
    assertThat(routers.stale(8 * MINUTE + 1)).as("within a minute").isEmpty();
    assertThat(routers.stale(9 * MINUTE)).containsExactly(7L);
    routers.finish(7, true, VirtualSteps.UNKNOWN);
    assertThat(routers.stale(20 * MINUTE)).isEmpty();
  }
}
