package io.kvasir.fleet.router.cost;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.router.CandidateCost;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.model.RankId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SelectorDocTest {

  private static final Path ROOT = Path.of(System.getProperty("kvasir.root"));

  @Test
  void theExampleChoosesTheRankWithTheLongestMatch() {
    GivenIndex index = new GivenIndex();
    index.hold(new RankId(7, 1), 3);
    SelectorDocExample.index = index;
    try (FleetRouter router =
        new SelectorDocExample.ShortestPrefillProvider()
            .create(Map.of(), RouterFixture.setup(System::nanoTime))) {
      router.addRank(new RankId(7, 0), RankCapacity.UNKNOWN);
      router.addRank(new RankId(7, 1), RankCapacity.UNKNOWN);
      Placement placement =
          RouterFixture.placement(router.route(RouterFixture.request(1, 18).build()));
      assertThat(router.name()).isEqualTo("shortest_prefill");
      assertThat(placement.rank()).isEqualTo(new RankId(7, 1));
      assertThat(placement.candidates())
          .extracting(CandidateCost::terms)
          .containsExactly(
              Map.of("queuedTokens", 0.0, "ownTokens", 18.0),
              Map.of("queuedTokens", 0.0, "ownTokens", 6.0));
    }
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
