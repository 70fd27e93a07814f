package io.kvasir.simulator.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kvasir.testing.trace.SharedTraces;
import java.io.IOException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The published traces match their README. */
class RealTracesTest {

  private static final TraceReading OF_FILE =
      new TraceReading(new TraceUnits(null, null), null, false);

  @Test
  void conversationTraceHasItsFigures() throws IOException {
    Trace trace = TraceReader.read(SharedTraces.require("conversation_trace.jsonl.xz"), OF_FILE);
    Conversations conversations = Conversations.infer(trace);

    assertThat(trace.format()).isEqualTo(Trace.Format.MOONCAKE);
    assertThat(trace.rows()).isEqualTo(12_031);
    assertThat(trace.arrivalNs(trace.rows() - 1)).isEqualTo(3_536_999_000_000L);
    assertThat(IntStream.range(0, trace.rows()).mapToLong(trace::inputTokens).sum() / 12_031)
        .isEqualTo(12_035);
    assertThat(IntStream.range(0, trace.rows()).map(trace::idCount).sum()).isEqualTo(288_500);
    assertThat(trace.warnings()).isEmpty();
    assertThat(trace.blockUpperBound()).isEqualTo(0.3664, within(0.00005));
    assertThat(conversations.count()).isEqualTo(7_373);
    assertThat(followUps(trace, conversations)).isEqualTo(0.387, within(0.0005));
  }

  @Test
  void syntheticTraceHasItsFigures() throws IOException {
    Trace trace = TraceReader.read(SharedTraces.require("synthetic_trace.jsonl.xz"), OF_FILE);
    Conversations conversations = Conversations.infer(trace);

    assertThat(trace.rows()).isEqualTo(3_993);
    assertThat(IntStream.range(0, trace.rows()).map(trace::idCount).sum()).isEqualTo(121_877);
    assertThat(trace.blockUpperBound()).isEqualTo(0.6396, within(0.00005));
    assertThat(conversations.count()).isEqualTo(2_211);
    assertThat(followUps(trace, conversations)).isEqualTo(0.446, within(0.0005));
  }

  @Test
  void azureTraceHasArrivalsAndLengthsOnly() throws IOException {
    Trace trace =
        TraceReader.read(SharedTraces.require("AzureLLMInferenceTrace_conv.csv.xz"), OF_FILE);

    assertThat(trace.format()).isEqualTo(Trace.Format.AZURE);
    assertThat(trace.rows()).isEqualTo(19_366);
    assertThat(trace.arrivalNs(1)).isEqualTo(4_314_579_000L);
    assertThat(trace.arrivalNs(trace.rows() - 1) / 1_000_000_000L).isBetween(3_501L, 3_502L);
    assertThat(trace.inputTokens(0)).isEqualTo(374);
    assertThat(trace.outputTokens(0)).isEqualTo(44);
    assertThat(trace.idCount(0)).isZero();
    assertThat(trace.blockUpperBound()).isZero();
    assertThat(Conversations.infer(trace).known()).isFalse();
  }

  private static double followUps(Trace trace, Conversations conversations) {
    long followUps =
        IntStream.range(0, trace.rows()).filter(row -> !conversations.firstTurn(row)).count();
    return (double) followUps / trace.rows();
  }
}
