package io.kvasir.gateway;

import static io.kvasir.gateway.LegFaults.ANY;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.embedded.disagg.KvConnector;
import io.kvasir.fleet.router.trtllm.DisaggFlow.Style;
import io.kvasir.gateway.ArmedFault.Phase;
import io.kvasir.gateway.LegFaults.Fault;
import io.kvasir.testing.harness.Await;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Workers of both roles that are killed under load, at each phase of a request's legs. */
class LegKillsUnderLoadTest {

  private static void kill(LegFleet fleet, Phase phase) {
    RelayedLeg killed =
        fleet
            .faults
            .happen(
                phase,
                ANY,
                (leg, bytes) -> {
                  leg.at().kill();
                  return null;
                })
            .at();
    fleet.recover(killed);
  }

  private static void prefillKilledBeforeItsAnswer(LegFleet fleet) {
    kill(fleet, Phase.PREFILL_ANSWERED);
  }

  /** Of legs that are sent at once: before the prefill leg is read. */
  private static void prefillKilledBeforeItIsAsked(LegFleet fleet) {
    kill(fleet, Phase.PREFILL_ASKED);
  }

  private static void prefillKilledBetweenTheLegs(LegFleet fleet) {
    List<RelayedLeg> killed = new ArrayList<>();
    fleet.faults.happen(
        Phase.DECODE_ASKED,
        ANY,
        (leg, bytes) -> {
          String body = leg.request().text();
          for (RelayedLeg prefill : fleet.prefills) {
            if (body.contains("" + prefill.standIn().port())) {
              prefill.kill();
              killed.add(prefill);
            }
          }
          return bytes;
        });
    assertThat(killed).hasSize(1);
    fleet.recover(killed.get(0));
  }

  private static void prefillKilledDuringATransfer(LegFleet fleet) {
    RelayedLeg moving =
        Await.value(
            "a transfer",
            () ->
                fleet.prefills.stream()
                    .filter(leg -> LegFleet.count(List.of(leg), "running") > 0)
                    .findAny()
                    .orElse(null));
    moving.kill();
    fleet.recover(moving);
  }

  private static void decodeKilledBeforeItsFirstToken(LegFleet fleet) {
    kill(fleet, Phase.DECODE_ANSWERED);
  }

  @ParameterizedTest
  @MethodSource("io.kvasir.gateway.LegFaults#dialects")
  void noKillLosesARequest(KvConnector connector, Style style) {
    List<Fault> kills = new ArrayList<>();
    kills.add(LegKillsUnderLoadTest::prefillKilledBeforeItsAnswer);
    kills.add(
        LegFaults.isSerial(connector, style)
            ? LegKillsUnderLoadTest::prefillKilledBetweenTheLegs
            : LegKillsUnderLoadTest::prefillKilledBeforeItIsAsked);
    kills.add(LegKillsUnderLoadTest::prefillKilledDuringATransfer);
    kills.add(LegKillsUnderLoadTest::decodeKilledBeforeItsFirstToken);
    LegFaults.run(connector, style, kills);
  }

  @Test
  void withoutAnotherAttemptAKillLosesRequests() {
    try (LegFleet fleet = LegFleet.withoutRetries(KvConnector.NIXL)) {
      fleet.awaitHealthy();
      LegLoad load = LegLoad.start(fleet.gateway, 4);
      try (load) {
        load.awaitRequests();
        prefillKilledBeforeItsAnswer(fleet);
        load.awaitRequests();
      }
      assertThat(load.lost()).isNotEmpty();
      fleet.awaitIdle();
    }
  }
}
