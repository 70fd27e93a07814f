package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Help, versions and manual pages. */
class HelpTest {

  @Test
  void helpAndVersionGoToStandardOutput() {
    assertThat(run("--help").out()).contains("replay", "doctor", "version", "Exit codes");
    assertThat(run("replay --help").out())
        .contains("--kv-cache-routing-load-balance-weight", "(default: 200000)", "KVASIR_");
    assertThat(run("replay --help").exitCode()).isZero();
    assertThat(run("version").out()).startsWith("kvasir 0.").contains("\ncommit ", "\njava ");
    for (String line : List.of("--version", "replay --version", "bench routers -V")) {
      assertThat(run(line).out())
          .matches("kvasir 0\\S+ \\(commit .+, built \\d{4}-\\d\\d-\\d\\d\\)\n");
    }
    assertThat(run("").out()).isEqualTo(run("--help").out());
    assertThat(run("bench").out()).isEqualTo(run("bench --help").out());
    assertThat(run("version --format json").json().get("kvasir").asText()).startsWith("0.");
  }

  @Test
  void everyHelpHasTheExitCodes() {
    for (String command :
        List.of(
            "",
            "serve",
            "engine",
            "replay",
            "route",
            "index",
            "bench",
            "bench routers",
            "bench selectors",
            "bench index",
            "bench proxy",
            "bench collective",
            "fit",
            "record",
            "doctor",
            "version",
            "generate-manual")) {
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
        .contains("APIs of OpenAI and Anthropic", "block events", "conversation");
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
        .contains("--worker=URL[,KEY=VALUE]...\n", "poll. Without")
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
    assertThat(run("engine --help").out()).contains("\n\nServer:\n      --host=ADDRESS ");
    assertThat(run("doctor --help").out()).doesNotContain("General:");
  }

  private static Outcome run(String line) {
    return Outcome.of(Map.of(), line);
  }
}
