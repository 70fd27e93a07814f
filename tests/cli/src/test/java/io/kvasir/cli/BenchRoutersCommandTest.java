package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class BenchRoutersCommandTest {

  @Test
  void aTraceThatIsTooShortForALoadIsRefused() {
    Path trace = Path.of(System.getProperty("kvasir.root"), "examples", "trace.jsonl");
    Outcome refused =
        Outcome.of(
            Map.of(), "bench routers --load 8@0.5 --seeds 1 --pool-tokens 250000 --trace " + trace);
    assertThat(refused.exitCode()).isEqualTo(2);
    assertThat(refused.err())
        .contains("trace.jsonl: 60 requests are too few for load 8@0.5")
        .doesNotContain("internal error");
  }
}
