package io.kvasir.gateway;

import static io.kvasir.gateway.LegFaults.ANY;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.embedded.disagg.KvConnector;
import io.kvasir.fleet.router.trtllm.DisaggFlow.Style;
import io.kvasir.gateway.ArmedFault.Phase;
import io.kvasir.gateway.LegFaults.Fault;
import io.kvasir.testing.harness.Await;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Answers of nonsense, leases that run out and clients that leave, under load. */
class LegFaultsUnderLoadTest {

  private static final AtomicInteger GONE = new AtomicInteger();

  private static Fault answers(UnaryOperator<String> changed) {
    return fleet ->
        fleet.faults.happen(
            Phase.PREFILL_ANSWERED,
            ANY,
            (leg, bytes) -> {
              String answer = new String(bytes, StandardCharsets.UTF_8);
              return changed.apply(answer).getBytes(StandardCharsets.UTF_8);
            });
  }

  private static String withoutParams(String answer) {
    return answer.replaceAll("\"(kv_transfer|disaggregated)_params\"", "\"nothing\"");
  }

  private static String twoChoices(String answer) {
    return answer.replaceFirst("\"choices\":\\[\\{", "\"choices\":[{\"index\":1},{");
  }

  private static String nullId(String answer) {
    return answer
        .replaceFirst("\"remote_request_id\":\"[^\"]*\"", "\"remote_request_id\":null")
        .replaceFirst("\"ctx_request_id\":[0-9]+", "\"ctx_request_id\":null");
  }

  private static String noJson(String answer) {
    return answer.substring(0, answer.length() - 2);
  }

  private static void aLeaseRunsOut(LegFleet fleet) {
    fleet.faults.happen(
        Phase.DECODE_ASKED,
        ANY,
        (leg, bytes) -> {
          int before = LegFleet.count(fleet.prefills, "expired");
          Await.until(
              "a lease that has run out", () -> LegFleet.count(fleet.prefills, "expired") > before);
          return bytes;
        });
  }

  @ParameterizedTest
  @MethodSource("io.kvasir.gateway.LegFaults#dialects")
  void noNonsenseAndNoLeaseLosesARequest(KvConnector connector, Style style) {
    LegFaults.run(
        connector,
        style,
        List.of(
            answers(LegFaultsUnderLoadTest::withoutParams),
            answers(LegFaultsUnderLoadTest::twoChoices),
            answers(LegFaultsUnderLoadTest::nullId),
            answers(LegFaultsUnderLoadTest::noJson),
            LegFaultsUnderLoadTest::aLeaseRunsOut));
  }

  // ---- clients that leave -----------------------------------------------------------------------

  /**
   * A client that leaves while a leg of its request is in a phase.
   *
   * @param endsLeg whether the gateway ends the leg, rather than lets it go on because the answer
   *     has come in the meantime
   */
  private static Fault leaves(Phase phase, boolean endsLeg) {
    return fleet -> {
      RawClient client = fleet.gateway.client();
      var left =
          fleet.faults.arm(
              phase,
              "gone-",
              (leg, bytes) -> {
                client.reset();
                if (!endsLeg) {
                  return bytes;
                }
                Await.opened("the end of the leg", leg.gone());
                return null;
              });
      client.send(ask());
      Await.result("a client that has left in the phase " + phase, left);
    };
  }

  private static byte[] ask() {
    // A decode worker that had the same prompt before would compute it itself.
    String body = LegLoad.body("gone" + GONE.getAndIncrement(), 3, true);
    return RawClient.post(LegLoad.COMPLETIONS, body, "X-Request-Id: gone-1");
  }

  private static void leavesInTheStream(LegFleet fleet) {
    try (RawClient client = fleet.gateway.client()) {
      client.send(ask());
      assertThat(client.head().status()).isEqualTo(200);
      assertThat(client.event()).isNotNull();
      client.reset();
    }
  }

  @ParameterizedTest
  @MethodSource("io.kvasir.gateway.LegFaults#dialects")
  void noClientThatLeavesLosesTheRequestOfAnother(KvConnector connector, Style style) {
    List<Fault> all = new ArrayList<>();
    for (Phase phase : Phase.values()) {
      boolean mayBeServed =
          phase == Phase.PREFILL_ANSWERED && !LegFaults.isSerial(connector, style);
      all.add(leaves(phase, !mayBeServed));
    }
    all.add(LegFaultsUnderLoadTest::leavesInTheStream);
    LegFaults.run(connector, style, all);
  }

  @ParameterizedTest
  @MethodSource("io.kvasir.gateway.LegFaults#dialects")
  void noLegWaitsLongerThanTheLimitForASilentPrefillWorker(KvConnector connector, Style style) {
    try (LegFleet fleet = LegFleet.impatient(connector, style)) {
      fleet.awaitHealthy();
      var silent =
          fleet.faults.arm(
              Phase.PREFILL_ASKED,
              "gone-",
              (leg, bytes) -> {
                Await.opened("the end of the leg", leg.gone());
                return null;
              });
      try (RawClient client = fleet.gateway.client()) {
        String reply = client.send(ask()).reply().text();
        assertThat(reply).contains("did not answer for");
      }
      Await.result("the end of the silent leg", silent);
      fleet.awaitUnloaded(); // a stand-in asks on for KV that no request waits for
    }
  }
}
