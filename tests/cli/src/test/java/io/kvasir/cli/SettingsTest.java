package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.cli.command.ReplayCommand;
import io.kvasir.engine.adp.AttentionDpConfig;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class SettingsTest {

  private static final String SMALL = "replay --sessions 2 --format json";

  @TempDir Path folder;

  @Test
  void flagsWinOverVariablesAndThoseOverTheFile() throws IOException {
    String config = " --config " + file("ranks: 3\nrouter: default\n");
    Map<String, String> variables = Map.of("KVASIR_RANKS", "4");

    assertThat(ranks(Map.of(), SMALL + " --router default")).isEqualTo(8);
    assertThat(ranks(Map.of(), SMALL + config)).isEqualTo(3);
    assertThat(ranks(variables, SMALL + config)).isEqualTo(4);
    assertThat(ranks(variables, SMALL + config + " --ranks 5")).isEqualTo(5);
  }

  @Test
  void theFileCanBeNamedByAVariableAndAFlagNamesAnother() throws IOException {
    Map<String, String> variables =
        Map.of("KVASIR_CONFIG", file("ranks: 3\n"), "KVASIR_ROUTER", "default");

    assertThat(ranks(variables, SMALL)).isEqualTo(3);
    Path other = Files.writeString(folder.resolve("other.yaml"), "ranks: 2\n");
    assertThat(ranks(variables, SMALL + " --config " + other)).isEqualTo(2);
  }

  @Test
  void aBlockOfTensorRtLlmGivesItsSettingsAndFlagsWinKeyByKey() throws IOException {
    String config =
        file(
            """
            %YAML 1.2
            ---
            sessions: 2
            ranks: 2
            format: "json"   # quoted or not
            attention_dp_config:
              kv_cache_routing_conversation_affinity: true
              kv_cache_routing_max_sessions: 1
              kv_cache_routing_new_conv_placement: 'least_tokens'
            """);
    Outcome outcome = Outcome.of(Map.of(), "replay --config " + config);
    assertThat(outcome.err()).isEmpty();
    assertThat(outcome.json().get("router").asText()).isEqualTo("conversation");

    String flags =
        " --kv-cache-routing-conversation-affinity false"
            + " --enable-kv-cache-aware-routing true --sessions 3";
    Outcome other = Outcome.of(Map.of(), "replay --config " + config + flags);
    assertThat(other.json().get("router").asText()).isEqualTo("kv_cache_aware");
    assertThat(other.json().get("config").get("sessions").asInt()).isEqualTo(3);
    assertThat(
            Outcome.of(
                    Map.of("KVASIR_KV_CACHE_ROUTING_MAX_SESSIONS", "0"),
                    "replay --config " + config)
                .err())
        .startsWith("KVASIR_KV_CACHE_ROUTING_MAX_SESSIONS must be an integer from 1");
  }

  @Test
  void whatTensorRtLlmReadsFromItsOwnVariablesIsReadFromThem() throws IOException {
    String name = "ADP_BALANCE_MIN_GENERATION_REQUESTS";
    String option = "--adp-balance-min-generation-requests";

    assertThat(Outcome.of(Map.of("TLLM_" + name, "300"), SMALL).err())
        .isEqualTo("TLLM_" + name + " must be an integer from 0 to 256, not '300'\n");
    assertThat(Outcome.of(Map.of("TLLM_" + name, "3", "KVASIR_" + name, "-2"), SMALL).err())
        .isEqualTo("KVASIR_" + name + " must be an integer from 0 to 256, not '-2'\n");
    assertThat(Outcome.of(Map.of("TLLM_" + name, "3"), SMALL + " " + option + " -1").err())
        .isEqualTo(option + " must be an integer from 0 to 256, not '-1'\n");
    assertThat(Outcome.of(Map.of("TLLM_RANKS", "-3"), SMALL + " --router default").exitCode())
        .isZero();
  }

  @Test
  void severalRoutersMayBeAList() throws IOException {
    Outcome outcome =
        Outcome.of(
            Map.of(),
            SMALL + " --config " + file("router:\n  - conversation\n  - default\nranks: 2\n"));

    assertThat(outcome.json().get(0).get("router").asText()).isEqualTo("conversation");
    assertThat(outcome.json().get(1).get("router").asText()).isEqualTo("default");
  }

  @Test
  void argsOfAServeRouterMayBeAMapping() throws IOException {
    String config =
        " --config "
            + file(
                """
                workers: 2
                ranks: 1
                router: default
                fleet_router: load_balancing
                fleet_router_args: {use_tokens: true}
                """);

    JsonNode args = Outcome.of(Map.of(), SMALL + config).json().get("fleetRouterArgs");
    assertThat(args.toString()).isEqualTo("{\"use_tokens\":true}");
    assertThat(errorOf("fleet_router_args: {a: [1]}")).contains("args must be a single value");
    assertThat(errorOf("fleet_router: round_robin\nfleet_router_args: {a: 1}"))
        .contains(":2: fleet_router_args is wrong: ");
  }

  @Test
  void workersMayBeAListOfValuesAndMappings() throws IOException {
    String config =
        file(
            """
            worker:
              - http://a:1,ranks=2
              - url: http://b:1
                flavor: sglang
                ranks: 2
                events: [tcp://x:5557, tcp://y:5557]
              - {flavor: trtllm, url: http://c:1, wat: 1}
            """);
    assertThat(Outcome.of(Map.of(), "serve --config " + config).err())
        .contains(":7: unknown key 'wat' in an element of worker; known: url, flavor, ranks, ");
    assertThat(workerError("[http://a:1, 'http://a:1,ranks=2']"))
        .contains("worker must name each engine once");
    assertThat(workerError("[{url: http://b:1, events: [tcp://x:1, tcp://x:1]}]"))
        .contains("events of rank 1: 'tcp://x:1' is that of events of rank 0 too");
    assertThat(workerError("[{flavor: vllm}]")).contains("must have the key url in each");
    assertThat(workerError("[{url: http://a:1, url: http://b:1}]"))
        .contains(":1: url is already set in line 1");
    assertThat(workerError("[{url: 'http://a:1,ranks=2'}]")).contains("no commas within a mapping");
    assertThat(workerError("['http://a:1 http://b:1']")).contains("must have no blanks");
    assertThat(workerError("[{url: {a: 1}}]")).contains("worker must be a single value");
    assertThat(workerError("[[http://a:1]]")).contains("worker must be a single value");
    assertThat(workerError("[{url: http://a:1, events: [[]]}]")).contains("must be a single value");
  }

  private String workerError(String workers) throws IOException {
    return Outcome.of(Map.of(), "serve --config " + file("worker: " + workers + "\n")).err();
  }

  @Test
  void aFileThatSaysNothingChangesNothing() throws IOException {
    for (String nothing : new String[] {"", "# ranks: 3\n", "---\n", "~", "{}"}) {
      String line = SMALL + " --router default --config " + file(nothing);
      assertThat(ranks(Map.of(), line)).as(nothing).isEqualTo(8);
    }
    assertThat(
            ranks(
                Map.of(),
                SMALL + " --router default --config " + file("attention_dp_config:\nranks: 2\n")))
        .isEqualTo(2);
  }

  @Test
  void aFileWrittenElsewhereIsReadToo() throws IOException {
    String line = SMALL + " --config " + file("\uFEFFranks: 3\r\nrouter: default\r\n");
    assertThat(ranks(Map.of(), line)).isEqualTo(3);
  }

  @Test
  void whatContradictsAnotherSettingIsSettledByWhereItComesFrom() throws IOException {
    String config = " --config " + file("rate: 2\ntrace: none.jsonl\nsessions: 2\n");
    String line = "replay --router default --ranks 2 --format json" + config;

    assertThat(Outcome.of(Map.of(), line).err())
        .isEqualTo("none.jsonl: no such file (" + Path.of("none.jsonl").toAbsolutePath() + ")\n");
    Outcome open = Outcome.of(Map.of("KVASIR_WORKLOAD", "multi_turn"), line);
    assertThat(open.exitCode()).as(open.err()).isZero();
    assertThat(open.json().get("config").has("concurrency")).isFalse();
    Outcome closed =
        Outcome.of(Map.of("KVASIR_WORKLOAD", "multi_turn", "KVASIR_CONCURRENCY", "1"), line);
    assertThat(closed.json().get("config").get("concurrency").asInt()).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "ranx: 3 | :1: unknown key 'ranx' (did you mean rank?); keys are the options of 'kvasir replay --help', with underscores",
        "Ranks: 3 | :1: unknown key 'Ranks' (did you mean ranks?); keys are ",
        "config: x | :1: unknown key 'config'; keys are the options of 'kvasir replay --help', with underscores",
        "lockstep_port: 3 | :1: unknown key 'lockstep_port'; keys are ",
        "attention_dp_config: {ranks: 3} | :1: key 'ranks' belongs outside attention_dp_config, at the top level of the file",
        "attention_dp_config: {pool_token: 3} | :1: unknown key 'pool_token' in attention_dp_config (did you mean pool_tokens, at the top level of the file?); keys are ",
        "limits: {} | :1: unknown key 'limits'; keys are the options of 'kvasir replay --help'",
        "attention_dp_config: {attention_dp_config: {}} | :1: unknown key 'attention_dp_config' in attention_dp_config",
        "seed: 1;ranks: 0 | :2: ranks must be an integer from 1 to 4096, not '0'",
        "ranks: two | :1: ranks must be an integer from 1 to 4096, not 'two'",
        "ranks: 2.5 | :1: ranks must be an integer from 1 to 4096, not '2.5'",
        "ranks: '2' | :1: ranks must be an integer, not the text '2'",
        "ranks: [2] | :1: ranks must be a single value",
        "ranks: {a: 2} | :1: ranks must be a single value",
        "ranks: | :1: ranks has no value; remove the key to use the default",
        "enable_block_reuse: 1 | :1: enable_block_reuse must be one of false, true, not '1'",
        "enable_block_reuse: \"true\" | :1: enable_block_reuse must be true or false, not the text 'true'",
        "hash_format: v1 | :1: hash_format must be one of kvasir, ",
        "router: [[default]] | :1: router must be a single value",
        "router: [default, best] | :1: router must be one of default, ",
        "think_seconds: 1f | :1: think_seconds must be a number from 0.0 to 1000000.0, not '1f'",
        "attention_dp_config:;  kv_cache_routing_match_rate_threshold: 2 | :2: kv_cache_routing_match_rate_threshold must be a number from 0.0 to 1.0, not '2'",
        "attention_dp_config: true | :1: attention_dp_config must be a mapping of keys to values",
        "ranks: 2;ranks: 2 | :2: ranks is already set in line 1",
        "attention_dp_config: {};attention_dp_config: {} | :2: attention_dp_config appears twice, also in line 1",
        "kv_cache_routing_max_sessions: 5;attention_dp_config:;  kv_cache_routing_max_sessions: 5 | :3: kv_cache_routing_max_sessions is already set in line 1",
        "ranks: &r 2;processes: *r | :2: processes must be written out; aliases are not supported",
        "attention_dp_config: &a {kv_cache_routing_max_sessions: *a} | :1: kv_cache_routing_max_sessions must be written out",
        "*a : 3 | :1: a key must be a plain word",
        "- ranks: 3 | :1: must be a mapping of keys to values, like 'ranks: 8'",
        "ranks | :1: must be a mapping of keys to values",
        "\\tranks: 3 | :1: not YAML: found character '\\t(TAB)' that cannot start any token",
        "ranks: 2; seed: 3 | :2: not YAML: ",
        "router: [default | :2: not YAML: ",
        "ranks: 2;---;ranks: 3 | :2: there must be only one document",
        "concurrency: 2;speed: 3 | :1: concurrency and speed exclude each other",
        "trace: x;workload: uniform | :1: trace and workload exclude each other",
      })
  void whatIsWrongIsNamedByFileAndLine(String text, String error) throws IOException {
    String file = file(text.replace("\\t", "\t").replace(';', '\n') + "\n");

    Outcome outcome = Outcome.of(Map.of(), "replay --config " + file);

    assertThat(outcome.err()).startsWith(file + ":").contains(error).endsWith("\n");
    assertThat(outcome.err().lines()).hasSize(1);
    assertThat(outcome.out()).isEmpty();
    assertThat(outcome.exitCode()).isEqualTo(2);
  }

  @Test
  void aMissingFileOfTheConfigurationIsNamedByItsAbsolutePathToo() throws IOException {
    String absolute = Path.of("").toAbsolutePath().toString();

    assertThat(errorOf("step_timing: ./no/t.json\nranks: 3\n"))
        .contains(":1: step_timing ./no/t.json: ")
        .endsWith(": no such file or directory (" + absolute + "/no/t.json)\n");
    assertThat(errorOf("trace: /no/t-3\nconcurrency: 3\n")).isEqualTo("/no/t-3: no such file\n");
    assertThat(Outcome.of(Map.of(), "replay --trace no.jsonl --config " + file("ranks: 3\n")).err())
        .isEqualTo("no.jsonl: no such file\n");
  }

  @Test
  void whatIsNoFileOfTextIsRefused() throws IOException {
    Path notText =
        Files.write(folder.resolve("latin"), "trace: \u00e9".getBytes(StandardCharsets.ISO_8859_1));
    Path huge = Files.writeString(folder.resolve("huge"), "#".repeat((1 << 16) + 1));
    Path most = Files.writeString(folder.resolve("most"), "#".repeat(1 << 16));

    assertRefused("none.yaml", "none.yaml: no such file");
    assertRefused(folder.toString(), folder + ": not a regular file");
    assertRefused(notText.toString(), notText + ": must be UTF-8");
    assertThat(Outcome.of(Map.of("KVASIR_CONFIG", ""), "replay").err())
        .isEqualTo("--config must be a path, not ''\n");
    assertThat(errorOf("seed: \u0001")).contains("not YAML: ");
    assertRefused(huge.toString(), huge + ": a configuration has at most 65536 bytes");
    assertThat(Outcome.of(Map.of(), "replay --help --config " + most).exitCode()).isZero();
    assertThat(Outcome.of(Map.of("KVASIR_CONFIG", "none.yaml"), "replay --help").exitCode())
        .isZero();
  }

  @Test
  void deepAndWideNestingCostsNoMoreThanItsBytes() throws IOException {
    int deep = 60_000;
    String refused = "router must be a single value";
    assertThat(errorOf("router: " + "[".repeat(deep))).contains(refused);
    assertThat(errorOf("router: " + "{a: ".repeat(deep / 4))).contains(refused);
    assertThat(errorOf("[".repeat(deep))).contains("must be a mapping");
    assertThat(errorOf("? ".repeat(deep / 2))).contains("a key must be a plain word");
    StringBuilder bomb = new StringBuilder("router: &a0 [x]\n");
    for (int i = 1; i < 50; i++) {
      bomb.append("k").append(i).append(": &a").append(i);
      bomb.append(" [*a").append(i - 1).append(", *a").append(i - 1).append("]\n");
    }
    assertThat(errorOf(bomb.toString())).contains(":2: unknown key 'k1'");
  }

  @Tag("process")
  @Test
  void otherProcessesSeeTheFileToo() throws IOException {
    String config = file("ranks: 4\npool_tokens: 50000\nrouter: [default, kv_cache_aware]\n");
    String line = SMALL + " --config " + config;
    String wallSeconds = "\"wallSeconds\" *: *[^,}\\s]+";

    Outcome two = Outcome.of(Map.of(), line + " --processes 2");

    assertThat(two.err()).isEmpty();
    assertThat(two.out().replaceAll(wallSeconds, ""))
        .isEqualTo(Outcome.of(Map.of(), line).out().replaceAll(wallSeconds, ""));
  }

  @Test
  void everyKeyOfTheBlockIsAnOption() {
    CommandLine replay = new CommandLine(new ReplayCommand(null, null));

    assertThat(AttentionDpConfig.keys())
        .allSatisfy(
            key ->
                assertThat(replay.getCommandSpec().findOption("--" + key.replace('_', '-')))
                    .as(key)
                    .isNotNull());
  }

  private void assertRefused(String path, String error) {
    Outcome outcome = Outcome.of(Map.of(), "replay --config " + path);
    assertThat(outcome.err()).isEqualTo(error + "\n");
    assertThat(outcome.exitCode()).isEqualTo(2);
  }

  private String errorOf(String text) throws IOException {
    Outcome outcome = Outcome.of(Map.of(), "replay --config " + file(text));
    assertThat(outcome.exitCode()).isEqualTo(2);
    return outcome.err();
  }

  private String file(String text) throws IOException {
    return Files.writeString(folder.resolve("kvasir.yaml"), text).toString();
  }

  private static int ranks(Map<String, String> environment, String line) {
    Outcome outcome = Outcome.of(environment, line);
    assertThat(outcome.err()).isEmpty();
    return outcome.json().get("ranks").asInt();
  }
}
