package io.kvasir;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.adp.AdpReason;
import io.kvasir.engine.adp.Decision;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ReadmeTest {

  private static final Path ROOT = Path.of(System.getProperty("kvasir.root"));

  @Test
  void theExampleRoutesToTheRankThatHoldsThePrefix() {
    Decision decision = ReadmeExample.run();
    assertThat(decision.rank()).isEqualTo(1);
    assertThat(decision.reason()).isEqualTo(AdpReason.AFFINITY);
    assertThat(decision.matchedTokens()).isEqualTo(288);
  }

  @Test
  void theReadmeShowsTheExampleAsItIs() throws IOException {
    String source =
        Files.readString(ROOT.resolve("tests/engine/src/test/java/io/kvasir/ReadmeExample.java"));
    String example =
        source
            .substring(
                source.indexOf("// README begin\n") + "// README begin\n".length(),
                source.indexOf("\n    // README end"))
            .stripIndent();
    assertThat(Files.readString(ROOT.resolve("README.md")))
        .contains("```java\n" + example + "\n```\n");
  }
}
