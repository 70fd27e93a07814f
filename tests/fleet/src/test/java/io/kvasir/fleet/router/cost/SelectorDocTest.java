package io.kvasir.fleet.router.cost;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.router.CandidateCost;
import io.kvasir.model.RankId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SelectorDocTest {

  private static final Path ROOT = Path.of(System.getProperty("kvasir.root"));

  @Test
  void theExampleChoosesTheRankThatHoldsMost() {
    GivenIndex index = new GivenIndex();
    index.hold(new RankId(7, 1), 3);
    CostDecision decision = SelectorDocExample.run(index);
    assertThat(decision.rank()).isEqualTo(new RankId(7, 1));
    assertThat(decision.costs())
        .extracting(CandidateCost::terms)
        .containsExactly(
            Map.of("queuedTokens", 0.0, "ownTokens", 70.0),
            Map.of("queuedTokens", 0.0, "ownTokens", 22.0));
  }

  @Test
  void theDocumentShowsTheExampleAsItIs() throws IOException {
    String source =
        Files.readString(
            ROOT.resolve(
                "tests/fleet/src/test/java/io/kvasir/fleet/router/cost/SelectorDocExample.java"));
    String example =
        source
            .substring(
                source.indexOf("// selector.md begin\n") + "// selector.md begin\n".length(),
                source.indexOf("\n\n  // selector.md end"))
            .stripIndent();
    assertThat(Files.readString(ROOT.resolve("docs/selector.md")))
        .contains("```java\n" + example + "\n```\n");
  }
}
