package io.kvasir.gateway.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.exchange.EngineFlavor;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SteeringTableTest {

  @ParameterizedTest
  @CsvSource({
    "vllm, 0.30.0, /v1/chat/completions, internal, header, global",
    "vllm, 0.30.0, /v1/completions, hybrid, header, local",
    "vllm, 0.30.0, /v1/messages, hybrid, header, local",
    "vllm, 0.30.0, /v1/completions, external, none,",
    "vllm, 0.30.0, /v1/responses, internal, none,",
    "vllm, 0.10.2, /v1/completions, internal, none,",
    "vllm, 0.11.0rc1, /v1/completions, internal, header, global",
    "vllm, , /v1/completions, hybrid, header, local",
    "vllm, 0.1.dev20175+g2573878a3, /v1/completions, hybrid, header, local",
    "vllm, 99.1, /v1/completions, internal, header, global",
    "vllm, 0.1.0-SNAPSHOT, /v1/responses, internal, header, local",
    "sglang, 0.5.22, /v1/chat/completions, internal, header+routed_dp_rank, global",
    "sglang, 0.5.22, /v1/completions, internal, header+routed_dp_rank, global",
    "sglang, 0.5.22, /v1/responses, internal, header+routed_dp_rank, global",
    "sglang, 0.5.19, /v1/responses, internal, none,",
    "sglang, 0.5.22, /v1/messages, internal, header, global",
    "sglang, 0.5.22, /generate, internal, routed_dp_rank, global",
    "sglang, 0.5.9.post1, /v1/completions, internal, data_parallel_rank, global",
    "sglang, 0.5.9, /v1/messages, internal, none,",
    "sglang, , /v1/messages, internal, header, global",
    "sglang, nonsense, /v1/completions, internal, header+routed_dp_rank, global",
    "trtllm, 1.3.0, /v1/chat/completions, internal, none,",
    "trtllm, , /v1/completions, internal, none,",
  })
  void requestsNameTheirRank(
      String flavor, String version, String path, String lb, String mechanism, String ranks) {
    Steering steering =
        SteeringTable.standard()
            .find(
                EngineFlavor.valueOf(flavor.toUpperCase(Locale.ROOT)),
                EngineVersion.parse(version),
                path,
                LoadBalancing.valueOf(lb.toUpperCase(Locale.ROOT)));
    String found =
        (steering.header() ? "header" : "")
            + (steering.header() && steering.bodyField() != null ? "+" : "")
            + (steering.bodyField() == null ? "" : steering.bodyField());
    assertThat(found.isEmpty() ? "none" : found).isEqualTo(mechanism);
    assertThat(steering.steers()).isEqualTo(!mechanism.equals("none"));
    if (ranks != null) {
      assertThat(steering.number(2, 4)).isEqualTo(ranks.equals("global") ? 6 : 2);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "vllm, 0.30.0, internal, true",
    "vllm, 0.30.0, hybrid, true",
    "vllm, 0.30.0, external, false",
    "vllm, 0.9.1, internal, false",
    "vllm, , internal, true",
    "sglang, 0.5.22, internal, true",
    "sglang, 0.4.6, internal, true",
    "trtllm, 1.2.0, internal, false",
  })
  void someEnginesTakeNoRankAtAll(String flavor, String version, String lb, boolean steers) {
    assertThat(
            SteeringTable.standard()
                .steers(
                    EngineFlavor.valueOf(flavor.toUpperCase(Locale.ROOT)),
                    EngineVersion.parse(version),
                    LoadBalancing.valueOf(lb.toUpperCase(Locale.ROOT))))
        .isEqualTo(steers);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "vllm | * | * | * | header | global; must have 7 cells, the last a source",
        "vllm | * | * | * | header | global |; must have 7 cells, the last a source",
        "vllm | >=x | * | * | header | global | s; not a version: x",
        "vllm | * | * | * | cookie | global | s; unknown mechanism cookie",
        "vllm | * | * | * | header | mine | s; ranks must be global or local",
        "tgi | * | * | * | header | global | s; row 'tgi",
      })
  void aWrongRowIsNamed(String row, String message) {
    assertThatThrownBy(() -> SteeringTable.parse("# comment\n\n" + row))
        .hasMessageContaining(message);
  }

  @Test
  void withoutARowNothingIsSteered() {
    SteeringTable table = SteeringTable.parse("vllm | <0.5 | /a | * | header | global | s");
    assertThat(
            table.find(
                EngineFlavor.VLLM, EngineVersion.parse("0.6.0"), "/a", LoadBalancing.INTERNAL))
        .isEqualTo(Steering.NONE);
    assertThat(table.find(EngineFlavor.VLLM, null, "/a", LoadBalancing.INTERNAL).header()).isTrue();
    assertThat(table.steers(EngineFlavor.SGLANG, null, LoadBalancing.INTERNAL)).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "0.26.0, 0.26.0",
    "v0.26.0, 0.26.0",
    "0.11.1rc2.dev45+gabcdef, 0.11.1",
    "0.5.9.post1, 0.5.9",
    "1.3.0rc27, 1.3.0",
    "0.1.0-SNAPSHOT, 0.1.0",
    "0.1.dev12+g1, ",
    "0.5.x, ",
    "dev, ",
    "7, ",
    "1.2.3.4.5, ",
    "999999999999.1, ",
  })
  void versionsAreRead(String text, String release) {
    EngineVersion version = EngineVersion.parse(text);
    assertThat(version == null ? null : version.toString()).isEqualTo(release);
  }

  @Test
  void versionsAreOrderedByNumber() {
    assertThat(EngineVersion.parse("0.9.10")).isGreaterThan(EngineVersion.parse("0.9.9"));
    assertThat(EngineVersion.parse("0.10")).isGreaterThan(EngineVersion.parse("0.9.9"));
    assertThat(EngineVersion.parse("1.0")).isEqualByComparingTo(EngineVersion.parse("1.0.0"));
  }
}
