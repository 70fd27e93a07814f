package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.harness.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A replay that runs out of memory names the cause; one whose requests wait needs little. */
@Tag("process")
class ReplayMemoryTest {

  @TempDir private Path folder;

  /** A trace of prompts that share nothing. */
  private String trace(int requests, int tokens, int interval) throws IOException {
    String rows =
        IntStream.range(0, requests)
            .mapToObj(
                i ->
                    "{\"timestamp\":%d,\"input_length\":%d,\"output_length\":2,\"runs\":[[%d,%d]]}"
                        .formatted(i * interval, tokens, (long) i * tokens, (tokens + 511) / 512))
            .collect(Collectors.joining("\n"));
    return Files.writeString(folder.resolve("trace.jsonl"), rows).toString();
  }

  private Outcome replay(String memory, String... options) throws Exception {
    return replay(List.of(), memory, options);
  }

  /** Runs a replay by way of another command, which runs the words behind its own. */
  private Outcome replay(List<String> prefix, String memory, String... options) throws Exception {
    List<String> command = new ArrayList<>(prefix);
    command.addAll(
        KvasirJvm.command(
            List.of("-Xmx" + memory, "-XX:+UseParallelGC", "--enable-native-access=ALL-UNNAMED"),
            "replay",
            "--router",
            "default",
            "--ranks",
            "1"));
    command.addAll(List.of(options));
    ChildProcess ended = ChildProcess.run("replay", new ProcessBuilder(command));
    return new Outcome(ended.exitCode(), ended.output(), ended.errors());
  }

  @Test
  void waitingRequestsKeepNoTokens() throws Exception {
    String trace = trace(400, 200_000, 1); // 320 MB of tokens
    Outcome done = replay("128m", "--trace", trace, "--pool-tokens", "400000");
    assertThat(done.exitCode()).as(done.err()).isZero();
  }

  @Test
  void requestsThatWaitAreNamed() throws Exception {
    String trace = trace(6_000, 100_000, 1);
    Outcome failed =
        replay("128m", "--trace", trace, "--trace-time-unit", "ms", "--pool-tokens", "200000");
    assertThat(failed.exitCode()).isEqualTo(1);
    assertThat(failed.err())
        .startsWith("out of memory: ")
        .contains(" in flight; requests arrive faster than they are answered")
        .contains("KVASIR_JAVA_OPTIONS");
  }

  @Test
  void aPoolThatDoesNotFitIsNamedInBlocksAndBytes() throws Exception {
    List<String> limited = List.of("sh", "-c", "ulimit -v 20000000; exec \"$@\"", "sh");
    String[] large = "--sessions 2 --pool-tokens 2000000000 --tokens-per-block 2".split(" ", -1);
    Outcome failed = replay(limited, "96m", large);
    assertThat(failed.exitCode()).isEqualTo(1);
    assertThat(failed.err())
        .isEqualTo(
            "no memory for a pool of 1,000,000,000 blocks of 2 tokens, 100,000,000,000 bytes;"
                + " every rank has such a pool: fewer --pool-tokens or --ranks, or larger --tokens-per-block, need less\n");
  }

  @Test
  void aTraceThatDoesNotFitIsNamed() throws Exception {
    Outcome failed = replay("24m", "--trace", trace(500_000, 5_000, 1));
    assertThat(failed.exitCode()).isEqualTo(1);
    assertThat(failed.err()).startsWith("out of memory: ").contains(" while the requests are read");
  }
}
