package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.harness.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Help, versions, manual pages and completion. */
@Tag("jdk")
class HelpTest {

  @Test
  void helpAndVersionGoToStandardOutput() {
    assertThat(run("--help").out()).contains("replay", "doctor", "version", "Exit codes");
    assertThat(run("replay --help").out())
        .contains("--kv-cache-routing-load-balance-weight", "(default: 200000)", "KVASIR_");
    assertThat(run("replay --help").exitCode()).isZero();
    assertThat(run("version").out()).startsWith("kvasir 0.").contains("\ncommit ", "\njava ");
    for (String line : List.of("--version", "replay --version", "bench policies -V")) {
      assertThat(run(line).out())
          .matches("kvasir 0\\S+ \\(commit .+, built \\d{4}-\\d\\d-\\d\\d\\)\n");
    }
    assertThat(run("").out()).isEqualTo(run("--help").out());
    assertThat(run("bench").out()).isEqualTo(run("bench --help").out());
    assertThat(run("version --format json").json().get("kvasir").asText()).startsWith("0.");
  }

  @Test
  void helpOfACommandIsAskedForAsWithOtherPrograms() {
    for (String command : List.of("", " replay", " bench", " bench policies")) {
      Outcome asked = run("help" + command);
      assertThat(asked.exitCode()).as(command).isZero();
      assertThat(asked.out()).as(command).isEqualTo(run((command + " --help").strip()).out());
    }
    assertThat(run("help repaly").err()).contains("did you mean replay?");
  }

  @Test
  void everyHelpHasTheExitCodes() {
    for (String command :
        List.of(
            "",
            "serve",
            "engine",
            "workers",
            "top",
            "keys",
            "replay",
            "route",
            "index",
            "bench",
            "bench policies",
            "bench index",
            "bench proxy",
            "bench collective",
            "fit",
            "record",
            "doctor",
            "version",
            "generate-completion",
            "generate-manual",
            "generate-schema")) {
      assertThat(run((command + " --help").strip()).out())
          .as(command)
          .contains("Exit codes: 0 done");
    }
  }

  @Test
  void manualPagesAreForMan() {
    assertThat(run("generate-manual replay").out())
        .startsWith(".TH \"KVASIR-REPLAY\" 1")
        .contains(".SH OPTIONS\n", ".B \\-\\-pool\\-tokens N\n", "Exit codes");
    assertThat(run("generate-manual").out()).contains(".SH COMMANDS\n.TP\n.B serve\n");
    assertThat(run("generate-manual nothing").exitCode()).isEqualTo(2);
  }

  @Test
  void theFirstSentencesSayWhatKvasirDoes() {
    assertThat(run("--help").out())
        .contains("Decides which GPU rank serves which LLM request", "no rank is overloaded.");
    assertThat(run("serve --help").out())
        .contains("APIs of OpenAI and Anthropic", "block events", "texts");
  }

  @Test
  void summariesOfCommandsAreSentences() {
    assertThat(run("--help").out().replaceAll("\\s+", " "))
        .contains("Prints a script with which bash and zsh complete commands, options and values. ")
        .doesNotContain("In bash:");
    assertThat(run("generate-completion --help").out()).contains("In bash: source <(");
  }

  @Test
  void optionsFitTheirCommand() {
    assertThat(run("replay --help").out())
        .contains("--router=NAME[,NAME]   ADP routers to run: default, kv_cache_aware, ");
    for (String one : List.of("serve", "engine")) {
      assertThat(run(one + " --help").out())
          .contains("--router=NAME          ADP router to run: default, kv_cache_aware, ")
          .doesNotContain("Several are compared");
    }
    assertThat(run("serve --router default,projected").err())
        .isEqualTo("--router must be one ADP router\n");
    assertThat(run("serve --help").out())
        .contains("--worker=URL[,KEY=VALUE]...\n", "forward_pass_metrics")
        .doesNotContain("\\s");
  }

  @Test
  void aLongListOfOptionsHasHeadings() {
    assertThat(run("replay --help").out())
        .contains(
            "\n\nWorkload:\n      --trace=FILE ",
            "\n\nDevices and KV memory:\n      --device=",
            "\n\nFleet of workers:\n      --workers=N ",
            "\n\nRanks of a worker:\n      --dp, --ranks=N ",
            "\n\nGeneral:\n      --config=FILE ")
        .containsOnlyOnce("\nWorkload:\n")
        .containsOnlyOnce("--seed=N");
    assertThat(run("serve --help").out())
        .contains(
            "\n\nGateway and workers:\n      --host=ADDRESS ",
            "\n\nLimits and timeouts:\n      --max-running-requests=N\n",
            "      --check                Start, ");
    for (String one : List.of("serve", "engine")) {
      assertThat(run(one + " --help").out())
          .contains("\n\nEmbedded ranks, or a model in a file:\n")
          .doesNotContain("Model in this process");
    }
    assertThat(run("engine --help").out()).contains("\n\nServer:\n      --host=ADDRESS ");
    assertThat(run("doctor --help").out()).doesNotContain("General:");
  }

  @Test
  void completionRegistersTheLauncherOnly() {
    assertThat(run("generate-completion").out())
        .startsWith("#!/usr/bin/env bash\n")
        .endsWith("complete -F _complete_kvasir -o default kvasir\n")
        .doesNotContain("kvasir.sh", "kvasir.bash");
  }

  @Tag("process")
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "replay --router | default kv_cache_aware conversation projected",
        "replay --workload m | multi_turn",
        "replay --fleet-router po | polled",
        "replay --format j | json",
        "replay --mode c | context",
        "replay --hash-format tr | trtllm-v1",
        "replay --kv-cache-dtype fp | fp16 fp8 fp32",
        "replay --enable-block-reuse t | true",
        "replay --capacity-scheduler-policy m | max_utilization",
        "replay --collective m | mpi",
        "serve --fleet-router a | auto approximate affinity",
        "serve --router pro | projected",
        "engine --flavor s | sglang",
        "engine --events m | map mixed",
        "bench policies --fleet-router co | conversation cost",
        "bench index --handles s | shared",
        "doc | doctor",
      })
  void commandsOptionsAndValuesAreCompleted(String line, String completed, @TempDir Path folder)
      throws Exception {
    Path script = folder.resolve("kvasir-completion");
    Files.writeString(script, run("generate-completion").out());
    String words = "kvasir " + (line.matches(".* --\\S+") ? line + " ''" : line);
    String shell =
        "compopt() { :; }; . %s; COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))"
                .formatted(script, words)
            + "; COMP_LINE=\"${COMP_WORDS[*]}\"; _complete_kvasir; echo ${COMPREPLY[*]}";

    ProcessBuilder bash = new ProcessBuilder("bash", "-c", shell).redirectErrorStream(true);
    assertThat(ChildProcess.run("bash", bash).output()).isEqualTo(completed + "\n");
  }

  private static Outcome run(String line) {
    return Outcome.of(Map.of(), line);
  }
}
