package io.kvasir;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ReadmeTest {

  private static final Path ROOT = Path.of(System.getProperty("kvasir.root"));

  @Test
  void theReadmeShowsWhatTheExamplePrints() throws IOException {
    PrintStream console = System.out;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
    try {
      ReadmeExample.main(new String[0]);
    } finally {
      System.setOut(console);
    }
    String output = printed.toString(StandardCharsets.UTF_8);
    assertThat(output).contains("to rank 0, affinity, 288 tokens matched");
    assertThat(Files.readString(ROOT.resolve("README.md"))).contains("```\n" + output + "```\n");
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
