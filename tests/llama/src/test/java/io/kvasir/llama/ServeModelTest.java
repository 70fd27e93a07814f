package io.kvasir.llama;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.cli.command.CommandRunner;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.Machine;
import io.kvasir.testing.llama.GgufWriter;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** {@code kvasir serve --model}. */
@EnabledOnOs(
    value = OS.LINUX,
    architectures = "amd64",
    disabledReason = "llama.cpp is tested on Linux for x86_64 only")
class ServeModelTest {

  @TempDir private Path folder;

  private record Outcome(int exitCode, String out, String err) {}

  private static Outcome run(String... arguments) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    Console console =
        new Console(
            new ByteArrayInputStream(new byte[0]),
            out,
            new PrintStream(err, true, StandardCharsets.UTF_8),
            false,
            Map.of());
    int exitCode = new CommandRunner(console, Machine.local()).run(arguments);
    return new Outcome(
        exitCode, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
  }

  private static Outcome serve(Path model, String... more) {
    String[] arguments =
        Arrays.copyOf(
            new String[] {
              "serve", "--model", model.toString(), "--port", "0", "--admin-port", "0", "--check"
            },
            8 + more.length);
    System.arraycopy(more, 0, arguments, 8, more.length);
    return run(arguments);
  }

  private Path model() throws Exception {
    return GgufWriter.write(folder.resolve("tiny.gguf"), 1);
  }

  @Test
  void workersServeTheModelUnderTheFilesName() throws Exception {
    Outcome outcome = serve(model(), "--ranks", "2");
    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    assertThat(outcome.err())
        .contains("2 of llama.cpp\n", "fleet router affinity\n", "was answered");
    assertThat(outcome.out()).contains("\"model\":\"tiny\"", "\"worker_id\":\"llama-");
  }

  @Test
  void theModelCanHaveAnotherName() throws Exception {
    Outcome outcome =
        serve(model(), "--ranks", "1", "--served-model-name", "mine", "--max-model-len", "512");
    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    assertThat(outcome.out()).contains("\"model\":\"mine\"");
  }

  @Test
  void aFileThatCannotBeServedIsWrongUsage() throws Exception {
    Path missing = folder.resolve("missing.gguf");
    assertThat(serve(missing))
        .isEqualTo(
            new Outcome(2, "", "--model cannot be served: " + missing + " does not exist\n"));
    Path text = Files.writeString(folder.resolve("text.gguf"), "no model");
    assertThat(serve(text).err())
        .isEqualTo("--model cannot be served: " + text + " is no GGUF file\n");
    byte[] whole = Files.readAllBytes(model());
    Path half = Files.write(folder.resolve("half.gguf"), Arrays.copyOf(whole, whole.length / 2));
    Outcome broken = serve(half);
    assertThat(broken.exitCode()).isEqualTo(2);
    assertThat(broken.err())
        .contains("is no model that llama.cpp can load")
        .doesNotContain("\tat ");
    Outcome long_ = serve(model(), "--max-model-len", "100000");
    assertThat(long_.exitCode()).isEqualTo(2);
    assertThat(long_.err()).contains("a context of 8192 tokens");
  }

  @Test
  void optionsOfModelledRanksAreRefused() throws Exception {
    Outcome outcome = serve(model(), "--seed", "1");
    assertThat(outcome.exitCode()).isEqualTo(2);
    assertThat(outcome.err()).isEqualTo("--seed is for embedded ranks and excludes --model\n");
  }
}
