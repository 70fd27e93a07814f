package io.kvasir.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.engine.pool.PoolGroup;
import io.kvasir.simulator.fleet.FleetSettings;
import io.kvasir.simulator.workload.IntRange;
import io.kvasir.simulator.workload.LognormalTokens;
import io.kvasir.simulator.workload.MultiTurn;
import io.kvasir.simulator.workload.Starts;
import io.kvasir.simulator.workload.ThinkTime;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Replays on ranks of a hybrid model. */
class HybridReplayTest {

  private static final List<PoolGroup> GROUPS =
      List.of(PoolGroup.window(128), PoolGroup.states(256));

  @ParameterizedTest
  @EnumSource(AdpRouterKind.class)
  void groupsShortenMatchesAlikeEachTime(AdpRouterKind router) {
    ReplaySettings settings = new ReplaySettings(2, 8_000, 32).withRouter(router);
    ReplayResult full = run(settings);
    ReplayResult hybrid = run(settings.withGroups(GROUPS));
    ReplayResult again = run(settings.withGroups(GROUPS));

    assertThat(again).usingRecursiveComparison().ignoringFields("wallNs").isEqualTo(hybrid);
    assertThat(hybrid.completed()).isEqualTo(full.completed());
    assertThat(hybrid.outputTokens()).isEqualTo(full.outputTokens());
    assertThat(hybrid.tokenHitRate()).isPositive().isLessThan(full.tokenHitRate());
  }

  @ParameterizedTest
  @ValueSource(strings = {"round_robin", "kv_cache_aware", "cost", "projected", "polled"})
  void fleetRoutersPlaceOnHybridRanks(String router) {
    FleetSettings fleet = FleetSettings.of(3, router);
    ReplaySettings plain = new ReplaySettings(1, 8_000, 32);
    ReplaySettings settings =
        plain.withHashFormat(fleet.naming(plain.pool().hashFormat())).withGroups(GROUPS);
    ReplayResult first = run(settings, fleet);
    ReplayResult second = run(settings, fleet);

    assertThat(second).usingRecursiveComparison().ignoringFields("wallNs").isEqualTo(first);
    assertThat(first.tokenHitRate()).isPositive();
    assertThat(first.completed()).isEqualTo(first.requests());
  }

  @Test
  void matchesOfEachBlockAreThoseOfFullAttentionWhereNothingIsEvicted() {
    ReplaySettings settings =
        new ReplaySettings(2, 1_000_000, 32).withRouter(AdpRouterKind.KV_CACHE_AWARE);
    ReplayResult full = run(settings);
    ReplayResult hybrid =
        run(settings.withGroups(List.of(PoolGroup.states(0), PoolGroup.window(1_000))));

    assertThat(hybrid)
        .usingRecursiveComparison()
        .ignoringFields("wallNs", "settings")
        .isEqualTo(full);
  }

  private static ReplayResult run(ReplaySettings settings) {
    return Replay.run(sessions(), settings, RankPools.Place.HOST, ReplayProgress.SILENT);
  }

  private static ReplayResult run(ReplaySettings settings, FleetSettings fleet) {
    return Replay.run(sessions(), settings, fleet, RankPools.Place.HOST, ReplayProgress.SILENT);
  }

  private static MultiTurn sessions() {
    return new MultiTurn(
        new MultiTurn.Shape(
            40,
            new Starts.Closed(12, 0),
            300,
            new IntRange(2, 5),
            new LognormalTokens(80, 1),
            new IntRange(10, 40),
            new ThinkTime(ThinkTime.Distribution.EXPONENTIAL, 0.05, 0),
            11));
  }
}
