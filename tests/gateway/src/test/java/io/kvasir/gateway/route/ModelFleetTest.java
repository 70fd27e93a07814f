package io.kvasir.gateway.route;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.model.RankId;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Workers of one model that come and go. */
class ModelFleetTest {

  @Test
  void aWorkerIsKnownUntilTheRouterHasNoneOfItsRanks() {
    List<ModelFleet.Target> removed = new ArrayList<>();
    ModelFleet[] fleet = new ModelFleet[1];
    FleetRouter router =
        TestWorkers.router(
            (name, arguments) -> {
              if (name.equals("removeRank")) {
                removed.add(fleet[0].target((RankId) arguments[0]));
              }
            });
    fleet[0] = new ModelFleet(router, true, 16, null, null);
    FleetWorker worker = TestWorkers.healthy(1, BreakerSettings.of(1, 1)).get(0);
    fleet[0].add(worker);
    fleet[0].remove(worker);
    assertThat(removed).containsExactly(new ModelFleet.Target(worker, ModelFleet.ANY_RANK));
    assertThat(fleet[0].workers()).isEmpty();
  }
}
