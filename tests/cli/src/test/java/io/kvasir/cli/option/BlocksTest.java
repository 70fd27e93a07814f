package io.kvasir.cli.option;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.cli.Outcome;
import io.kvasir.cli.command.ReplayCommand;
import io.kvasir.cli.command.ServeCommand;
import io.kvasir.engine.adp.AttentionDpConfig;
import io.kvasir.gateway.worker.WorkerKey;
import io.kvasir.gateway.worker.WorkerSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** Options of {@code kvasir serve} in blocks of the file of {@code --config}. */
class BlocksTest {

  private static final Path ROOT =
      Path.of(Objects.requireNonNull(System.getProperty("kvasir.root")));

  @TempDir private Path folder;

  private static CommandLine serve() {
    return new CommandLine(new ServeCommand(null, null, null));
  }

  private static Settings loaded(String... words) {
    Settings settings = Settings.of(serve().parseArgs(words)).orElseThrow();
    settings.load();
    return settings;
  }

  private String file(String yaml) throws IOException {
    return Files.writeString(folder.resolve("serve.yaml"), yaml).toString();
  }

  private ParsedServe parsed(String yaml) throws IOException {
    return ParsedServe.of(Map.of(), "--config", file(yaml));
  }

  @Test
  void everyOptionHasOneBlockOrNone() {
    ConfigKeys keys = ConfigKeys.of(serve().getCommandSpec());
    List<String> all = keys.inBlocks().values().stream().flatMap(List::stream).toList();
    assertThat(all).doesNotHaveDuplicates().hasSameElementsAs(keys.options().keySet());
    assertThat(keys.inBlocks()).containsOnlyKeys(Block.values());
    assertThat(keys.inBlocks().get(Block.WORKERS)).containsExactly("worker");
    assertThat(keys.inBlocks().get(Block.ATTENTION_DP)).hasSameElementsAs(AttentionDpConfig.keys());
    for (Block block : Block.values()) {
      assertThat(keys.options()).as("%s names a block", block).doesNotContainKey(block.key());
    }
  }

  @Test
  void otherCommandsHaveTheBlockOfTensorRtLlmOnly() {
    CommandLine replay = new CommandLine(new ReplayCommand(null, null));
    assertThat(ConfigKeys.of(replay.getCommandSpec()).inBlocks())
        .containsOnlyKeys(Block.TOP, Block.ATTENTION_DP);
  }

  /** All options at once; two of them are files that are read, and the others get a text. */
  @Test
  void aStructuredFileEqualsAFlatOneAndFlags() throws IOException {
    ConfigKeys keys = ConfigKeys.of(serve().getCommandSpec());
    StringBuilder structured = new StringBuilder();
    StringBuilder flat = new StringBuilder();
    List<String> flags = new ArrayList<>();
    keys.inBlocks()
        .forEach(
            (block, own) -> {
              boolean mapping = block != Block.TOP && !block.isList();
              structured.append(mapping ? block.key() + ":\n" : "");
              for (String key : own) {
                String value = value(key);
                structured.append(mapping ? "  " : "");
                structured.append(block.isList() ? block.key() : key);
                structured.append(": ").append(value).append('\n');
                flat.append(key).append(": ").append(value).append('\n');
                flags.add("--" + key.replace('_', '-') + "=" + value);
              }
            });
    Settings byFlags = loaded(flags.toArray(String[]::new));
    Settings byBlocks = loaded("--config", file(structured.toString()));
    assertThat(byBlocks.differences(byFlags)).containsExactly("--config");
    assertThat(byBlocks.differences(loaded("--config", file(flat.toString())))).isEmpty();
    assertThat(byBlocks.differences(loaded("--config", file("")))).hasSizeGreaterThan(100);
  }

  private static String value(String key) {
    return switch (key) {
      case "extra_llm_api_options" -> ROOT.resolve("examples/llm-api.yaml").toString();
      case "disagg_config" -> ROOT.resolve("examples/disagg.yaml").toString();
      default -> "7";
    };
  }

  @Test
  void flagsAndVariablesWinOverBlocks() throws IOException {
    String config = file("limits:\n  max_attempts: 2\n  max_queued_requests: 2\nkeys:\n");
    ParsedServe serve =
        ParsedServe.of(
            Map.of("KVASIR_MAX_ATTEMPTS", "4"), "--config", config, "--max-queued-requests", "5");
    assertThat(serve.settings().proxy().maxAttempts()).isEqualTo(4);
    assertThat(serve.settings().pressure().maxQueuedRequests()).isEqualTo(5);
  }

  @Test
  void workersAreTextsOrMappings() throws IOException {
    ParsedServe structured =
        parsed(
            """
            workers:
              - http://a:1,weight=0.5
              - url: http://b:1
                events: [tcp://b:2, tcp://b:3]
                weight: 0.25
            disagg:
              prefill:
                - url: http://c:1
                  disagg: nixl
              decode: [{url: http://d:1, disagg: nixl, ranks: 2}]
            """);
    ParsedServe flags =
        ParsedServe.of(
            Map.of(),
            "--worker=http://a:1,weight=0.5",
            "--worker=http://b:1,events=tcp://b:2,events=tcp://b:3,weight=0.25",
            "--prefill=http://c:1,disagg=nixl",
            "--decode=http://d:1,disagg=nixl,ranks=2");
    List<WorkerSpec> workers = structured.settings().workers();
    assertThat(workers).hasSize(4).isEqualTo(flags.settings().workers());
  }

  @Test
  void aMappingHasTheKeysOfTheText() throws IOException {
    for (String option : List.of("workers", "worker", "prefill", "decode")) {
      for (WorkerKey key : WorkerKey.all()) {
        String yaml = "%s: [{url: http://a:1, %s: x}]".formatted(option, key.name());
        CommandLine serve = serve();
        Settings.of(serve.parseArgs("--config", file(yaml))).orElseThrow().load();
        String name = "--" + (option.equals("workers") ? "worker" : option);
        assertThat(serve.getCommandSpec().findOption(name).<List<String>>getValue())
            .containsExactly("http://a:1," + key.name() + "=x");
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "limits:;  max_body_m: 1 | :2: unknown key 'max_body_m' in limits (did you mean max_body_mb?); keys are the options of 'kvasir serve --help'",
        "limits:;  ssl_certfil: a | :2: unknown key 'ssl_certfil' in limits (did you mean ssl_certfile, in tls or at the top level of the file?); ",
        "limits:;  prot: 1 | :2: unknown key 'prot' in limits (did you mean port, at the top level of the file?); ",
        "limits:;  nothing_like_it: 1 | :2: unknown key 'nothing_like_it' in limits; keys are ",
        "limits:;  ssl_certfile: a | :2: key 'ssl_certfile' belongs outside limits, in tls or at the top level of the file",
        "tls:;  port: 1 | :2: key 'port' belongs outside tls, at the top level of the file",
        "tls:;  worker: [a] | :2: key 'worker' belongs outside tls, as workers at the top level of the file",
        "tls:;  workers: [a] | :2: block 'workers' belongs outside tls, at the top level of the file",
        "tls:;  limits: {} | :2: block 'limits' belongs outside tls, at the top level of the file",
        "tls:;  tls: {} | :2: unknown key 'tls' in tls",
        "port: 1;limitz: {} | :2: unknown key 'limitz' (did you mean limits?); ",
        "router:;  fleet_router: cost | :2: router must be a single value (did you mean routers?)",
        "max_body_mb: 1;limits:;  max_body_mb: 1 | :3: max_body_mb is already set in line 1",
        "limits:;  max_body_mb: 1;max_body_mb: 1 | :3: max_body_mb is already set in line 2",
        "worker: http://a:1;workers: [http://b:1] | :2: workers is already set in line 1",
        "limits: {};keys: {};limits: {} | :3: limits appears twice, also in line 1",
        "limits: 3 | :1: limits must be a mapping of keys to values",
        "limits:;  - max_body_mb | :2: limits must be a mapping of keys to values",
        "limits:;  max_body_mb: 0 | :2: max_body_mb must be an integer from 1 to 1024, not '0'",
        "limits:;  max_body_mb: '8' | :2: max_body_mb must be an integer, not the text '8'",
        "limits:;  max_body_mb: | :2: max_body_mb has no value; remove the key to use the default",
        "workers:;  url: http://a:1 | :2: workers must be a list of values or mappings, not a mapping",
        "workers:;  - url: http://a:1;    wight: 1 | :3: unknown key 'wight' in an element of workers (did you mean weight?)",
        "workers:;  - url: http://a:1;    ranks: 1;    ranks: 1 | :4: ranks is already set in line 3",
        "workers:;  - http://a:1;  - url: http://b:1;    weight: 3 | :3: workers is wrong: weight must be above 0 and at most 1, not '3'",
        "workers:;  - http://a:1;  - http://b:1,weight=3 | :3: workers is wrong: weight must be above 0",
        "workers:;  - http://a:1;  - dns+http://b:1,ranks=0 | :3: workers is wrong: ranks must be 1 to 4096, not '0'",
        "workers:;  - http://a:1;  - flavor: vllm | :3: workers must have the key url in each of its mappings",
        "disagg:;  prefill:;    - http://a:1;    - {url: http://b:1, role: decode} | :4: prefill is wrong: role=decode contradicts --prefill",
        "disagg:;  prefill: http://a:1,role=decode | :2: prefill is wrong: role=decode contradicts --prefill",
      })
  void whatIsWrongIsNamedByFileAndLine(String text, String error) throws IOException {
    String file = file(text.replace(';', '\n') + "\n");
    Outcome outcome = Outcome.of(Map.of(), "serve --check --check-seconds 0 --config " + file);
    assertThat(outcome.err()).startsWith(file + error).hasLineCount(1);
    assertThat(outcome.exitCode()).isEqualTo(2);
  }
}
