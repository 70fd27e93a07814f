package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.embedded.disagg.KvConnector;
import io.kvasir.fleet.router.trtllm.DisaggFlow.Style;
import io.kvasir.testing.harness.LongRuns;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.provider.Arguments;

/**
 * Faults of single legs while 16 conversations go on over two workers of each role: no request is
 * lost that had not begun to stream, and nothing stays behind. Stateless.
 */
final class LegFaults {

  /** Requests of the conversations. */
  static final String ANY = "load-";

  private static final int CONVERSATIONS = 16;
  private static final List<KvConnector> USUAL = List.of(KvConnector.NIXL, KvConnector.BOOTSTRAP);
  private static final int TIMES = LongRuns.cases(1, 50);

  private LegFaults() {}

  /** Makes one fault and waits for its end. */
  interface Fault {
    void make(LegFleet fleet);
  }

  /**
   * A connector whose legs follow one another and one whose legs are sent at once; in the long form
   * all connectors, and TensorRT-LLM's other order of the legs.
   */
  static List<Arguments> dialects() {
    List<Arguments> others = new ArrayList<>();
    for (KvConnector connector : KvConnector.values()) {
      if (!USUAL.contains(connector)) {
        others.add(Arguments.of(connector, Style.CONTEXT_FIRST));
      }
    }
    others.add(Arguments.of(KvConnector.TRTLLM, Style.GENERATION_FIRST));
    return LongRuns.cases(
        USUAL.stream().map(connector -> Arguments.of(connector, Style.CONTEXT_FIRST)).toList(),
        others);
  }

  /** Whether the decode leg needs the answer to the prefill leg. */
  static boolean isSerial(KvConnector connector, Style style) {
    return style == Style.CONTEXT_FIRST
        && (connector == KvConnector.NIXL || connector == KvConnector.TRTLLM);
  }

  /** Makes each fault, once or 50 times. */
  static void run(KvConnector connector, Style style, List<Fault> faults) {
    try (LegFleet fleet = LegFleet.underLoad(connector, style)) {
      fleet.awaitHealthy();
      LegLoad load = LegLoad.start(fleet.gateway, CONVERSATIONS);
      try (load) {
        for (int i = 0; i < TIMES; i++) {
          for (Fault fault : faults) {
            load.awaitRequests();
            fault.make(fleet);
            fleet.awaitHealthy();
          }
        }
        load.awaitRequests();
      }
      assertThat(load.lost()).isEmpty();
      fleet.awaitIdle();
      if (LongRuns.on()) {
        System.out.printf(
            "%s, %s: %d faults, %d requests, %d more attempts, %d streams cut after they began%n",
            connector,
            style,
            TIMES * faults.size(),
            load.requests(),
            (int) fleet.gateway.metric("kvasir_retries_total"),
            load.cut().size());
      }
    }
  }
}
