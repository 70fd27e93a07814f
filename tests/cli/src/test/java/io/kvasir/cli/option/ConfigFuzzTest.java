package io.kvasir.cli.option;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.cli.command.ServeCommand;
import io.kvasir.testing.harness.Fuzz;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** Damaged files of {@code --config} are read, or refused with an error that says where. */
class ConfigFuzzTest {

  private static final Path EXAMPLE =
      Path.of(Objects.requireNonNull(System.getProperty("kvasir.root")))
          .resolve("examples/production/serve.yaml");

  private static final List<String> SHORT =
      List.of(
          "port: 8080\nworker: [http://a:1, 'http://b:2,ranks=2']\n",
          "worker:\n  - url: http://a:1\n    ranks: 2\n    weight: 0.5\n",
          "fleet_router: cost\nranks: 8\nattention_dp_config:\n  enable_balance: true\n",
          "limits: {max_body_mb: 1}\ntls:\n  ssl_certfile: a\nworkers:\n  - url: http://a:1\n",
          "? [a]\n: b\n",
          "host: |\n  a\nport: 0x10\n");

  private static final byte[][] TOKENS = {
    bytes("\n"),
    bytes("  "),
    bytes("- "),
    bytes(": "),
    bytes("&a "),
    bytes("*a"),
    bytes("!!int "),
    bytes("<<: *a"),
    bytes("{"),
    bytes("["),
    bytes("\""),
    bytes("'"),
    bytes("#"),
    bytes("|\n"),
    bytes("---\n"),
    bytes("...\n"),
    bytes("%YAML 9\n"),
    bytes("\ufeff"),
    bytes("\t"),
    bytes("1e999"),
    bytes("99999999999999999999"),
    bytes("null"),
    bytes("port: 1\n"),
    bytes("worker: \n"),
    bytes("limits: \n")
  };

  @TempDir private Path folder;

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Tag("fuzz")
  @Test
  void damagedFilesAreReadOrRefused() throws IOException {
    byte[] example = Files.readAllBytes(EXAMPLE);
    Path file = folder.resolve("serve.yaml");
    Fuzz.run("files of --config", random -> check(random, file, example));
  }

  private static void check(Random random, Path file, byte[] example) throws IOException {
    byte[] original =
        random.nextBoolean() ? example : bytes(SHORT.get(random.nextInt(SHORT.size())));
    Files.write(file, Fuzz.mutated(random, original, TOKENS));
    CommandLine serve = new CommandLine(new ServeCommand(null, null, null));
    try {
      Settings.of(serve.parseArgs("--config", file.toString())).orElseThrow().load();
    } catch (InvalidConfigException | UsageException | ParameterException e) {
      assertThat(e.getMessage())
          .contains("serve.yaml")
          .doesNotContain("Exception", "null pointer", "out of bounds")
          .hasSizeLessThan(1_500);
    }
  }
}
