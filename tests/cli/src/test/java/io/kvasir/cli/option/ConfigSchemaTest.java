package io.kvasir.cli.option;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.networknt.schema.Error;
import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.kvasir.cli.Outcome;
import io.kvasir.cli.command.ServeCommand;
import io.kvasir.gateway.worker.WorkerKey;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParseResult;

/** The schema of the file of {@code --config} takes and refuses what the command does. */
@Tag("documents")
class ConfigSchemaTest {

  private static final Path ROOT =
      Path.of(Objects.requireNonNull(System.getProperty("kvasir.root")));
  private static final Path PRODUCTION = ROOT.resolve("examples/production");
  private static final String DRAFT_7 = "http://json-schema.org/draft-07/schema#";
  private static final Pattern YAML_BLOCK = Pattern.compile("```yaml\n(.*?)```", Pattern.DOTALL);
  private static final SchemaRegistry REGISTRY =
      SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_7);
  private static final String SERVE_TEXT = text("serve");
  private static final Schema SERVE = REGISTRY.getSchema(SERVE_TEXT, InputFormat.JSON);

  /** Dimensions of a model are given together. */
  private static final Set<String> DIMENSIONS =
      Set.of("num_hidden_layers", "num_key_value_heads", "head_dim");

  @TempDir private Path folder;

  private static String text(String command) {
    Outcome outcome = Outcome.of(Map.of(), "generate-schema " + command);
    assertThat(outcome.err()).isEmpty();
    return outcome.out();
  }

  private static JsonNode json(String text) {
    try {
      return new ObjectMapper().readTree(text);
    } catch (JsonProcessingException e) {
      throw new AssertionError(e);
    }
  }

  private static List<Error> errors(Schema schema, String yaml) {
    Object value = new Load(LoadSettings.builder().build()).loadFromString(yaml);
    return schema.validate(new ObjectMapper().valueToTree(value).toString(), InputFormat.JSON);
  }

  @Test
  void theExampleHasTheSchemaOfTheOptions() throws IOException {
    assertThat(Files.readString(PRODUCTION.resolve("serve.schema.json")))
        .as(
            "options have changed: run"
                + " ./kvasir generate-schema serve > examples/production/serve.schema.json")
        .isEqualTo(SERVE_TEXT);
    assertThat(Files.readString(PRODUCTION.resolve("serve.yaml")))
        .startsWith("# yaml-language-server: $schema=serve.schema.json\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"serve", "engine", "replay"})
  void eachSchemaIsOne(String command) {
    Schema meta = REGISTRY.getSchema(SchemaLocation.of(DRAFT_7));
    assertThat(meta.validate(text(command), InputFormat.JSON)).isEmpty();
    assertThat(text(command)).doesNotContain("${");
  }

  @Test
  void commandsWithoutAFileHaveNone() {
    Outcome outcome = Outcome.of(Map.of(), "generate-schema doctor");
    assertThat(outcome.exitCode()).isEqualTo(2);
    assertThat(outcome.err()).contains("must be serve, engine or replay, not 'doctor'");
  }

  @Test
  void examplesAreValid() throws IOException {
    Schema replay = REGISTRY.getSchema(text("replay"), InputFormat.JSON);
    assertThat(errors(SERVE, Files.readString(PRODUCTION.resolve("serve.yaml")))).isEmpty();
    assertThat(errors(replay, Files.readString(ROOT.resolve("examples/kvasir.yaml")))).isEmpty();
    assertThat(errors(SERVE, block("docs/gateway.md", 0, 1))).isEmpty();
    assertThat(errors(replay, block("docs/configuration.md", 0, 2))).isEmpty();
    assertThat(errors(SERVE, block("docs/configuration.md", 1, 2))).isEmpty();
    assertThat(ReadOptions.error(file(block("docs/configuration.md", 1, 2)))).isEmpty();
  }

  @Test
  void theExampleWithAWrongKeyInABlockIsNotValid() throws IOException {
    String example = Files.readString(PRODUCTION.resolve("serve.yaml"));
    assertThat(example).contains("\nlimits:\n  drain_", "\nadmin:\n", "\nworkers: ", "\n  - url: ");
    for (String wrong : List.of("drain_second: 1", "admin_host: a", "url: http://a:1")) {
      assertThat(errors(SERVE, example.replace("\nlimits:\n", "\nlimits:\n  " + wrong + "\n")))
          .as(wrong)
          .hasSize(1)
          .allMatch(error -> error.toString().contains(wrong.replaceFirst(":.*", "")));
    }
  }

  /** One of the blocks of YAML in a document. */
  private static String block(String document, int index, int count) throws IOException {
    List<String> blocks = new ArrayList<>();
    Matcher matcher = YAML_BLOCK.matcher(Files.readString(ROOT.resolve(document)));
    while (matcher.find()) {
      blocks.add(matcher.group(1));
    }
    assertThat(blocks).as(document).hasSize(count);
    return blocks.get(index);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "prot: 8080",
        "config: other.yaml",
        "check: true",
        "dp: 8",
        "port: '8080'",
        "port: [8080]",
        "port: 80.5",
        "port: 65536",
        "port: -1",
        "port:",
        "client_share: 0",
        "queue_timeout_seconds: 0",
        "queue_timeout_seconds: soon",
        "explain_headers: 1",
        "explain_headers: 'true'",
        "host: {name: a}",
        "schedule_style: sideways",
        "router: best",
        "fleet_router_args: {max_sessions: [1]}",
        "attention_dp_config: 3",
        "attention_dp_config: {port: 8080}",
        "limits: [max_body_mb]",
        "limits: {max_body: 8}",
        "limits: {port: 8080}",
        "limits: {ssl_certfile: a}",
        "limits: {limits: {}}",
        "limits: {max_body_mb: 0}",
        "tls: {workers: [http://a:1]}",
        "router: {fleet_router: cost}",
        "workers: {url: http://a:1}",
        "workers: [{url: http://a:1, wieght: 1}]",
        "disagg: {prefill: [{url: http://a:1, ranks: 0}]}",
        "attention_dp_config: {kv_cache_routing_max_sessions: 0}",
        "worker: {url: http://a:1}",
        "worker: [{flavor: vllm}]",
        "worker: [{url: http://a:1, flavour: vllm}]",
        "worker: [{url: http://a:1, flavor: llm}]",
        "worker: [{url: http://a:1, lb: round_robin}]",
        "worker: [{url: http://a:1, role: cook}]",
        "worker: [{url: http://a:1, poll: maybe}]",
        "worker: [{url: http://a:1, weight: 0}]",
        "worker: [{url: http://a:1, weight: 1.5}]",
        "worker: [{url: http://a:1, events: {rank: 0}}]",
        "worker: [[http://a:1]]",
        "prefill: [{url: http://a:1, disagg: carrier_pigeon}]",
        "- port: 8080"
      })
  void wrongSettingsAreRefusedByBoth(String yaml) throws IOException {
    assertThat(errors(SERVE, yaml)).isNotEmpty();
    Outcome outcome = Outcome.of(Map.of(), "serve --config " + file(yaml));
    assertThat(outcome.exitCode()).as(outcome.err()).isEqualTo(2);
    assertThat(outcome.err()).startsWith(folder + "/serve.yaml:1: ").hasLineCount(1);
  }

  /** Every key at once, flat and in its block; some files are read, those of the examples. */
  @Test
  void theCommandTakesEveryKey() throws IOException {
    JsonNode properties = json(SERVE_TEXT).get("properties");
    StringBuilder flat = new StringBuilder();
    StringBuilder inBlocks = new StringBuilder();
    Map<Block, List<String>> blocks =
        ConfigKeys.of(new CommandLine(new ServeCommand(null, null, null)).getCommandSpec())
            .inBlocks();
    Set<String> seen = new HashSet<>();
    blocks.forEach(
        (block, keys) -> {
          boolean mapping = block != Block.TOP && !block.isList();
          inBlocks.append(mapping ? block.key() + ":\n" : "");
          for (String key : keys) {
            String value = ": " + sample(key, properties.get(key)) + "\n";
            flat.append(key).append(value);
            inBlocks.append(mapping ? "  " : "").append(block.isList() ? block.key() : key);
            inBlocks.append(value);
            seen.add(key);
          }
          seen.add(block.key());
        });
    seen.remove(Block.TOP.key());
    assertThat(properties.properties()).extracting(Map.Entry::getKey).hasSameElementsAs(seen);
    for (StringBuilder yaml : List.of(flat, inBlocks)) {
      assertThat(errors(SERVE, yaml.toString())).isEmpty();
      CommandLine serve = new CommandLine(new ServeCommand(null, null, null));
      ParseResult parsed = serve.parseArgs("--config", file(yaml.toString()));
      Settings.of(parsed).orElseThrow().load();
      assertThat(serve.getCommandSpec().findOption("--record").<String>getValue())
          .isEqualTo("text");
    }
  }

  private static String sample(String key, JsonNode form) {
    return switch (key) {
      case "extra_llm_api_options" -> ROOT.resolve("examples/llm-api.yaml").toString();
      case "disagg_config" -> ROOT.resolve("examples/disagg.yaml").toString();
      default ->
          form.has("enum")
              ? form.get("enum").get(0).asText()
              : switch (form.path("type").asText()) {
                case "boolean" -> "true";
                case "integer", "number" -> form.path("minimum").asText("1");
                default -> "text";
              };
    };
  }

  /** Options that read their values without a gateway. */
  @Command(name = "serve")
  @InBlocks
  private static final class ReadOptions {

    @Mixin private ServeOptions options;
    @Mixin private EmbeddedOptions embedded;
    @Mixin private KvOptions kv;
    @Mixin private Settings sources;

    /** The error about a file; empty if there is none. */
    static String error(String file) {
      ReadOptions read = new ReadOptions();
      new CommandLine(read).parseArgs("--config", file);
      try {
        read.sources.load();
        Object unused = List.of(read.options.settings(read.sources), read.kv.kv());
        unused = read.embedded.settings();
        unused = read.kv.byFreeMemory() ? read.kv.freeMemoryFraction() : 0;
        return "";
      } catch (UsageException e) {
        return e.option() + " " + e.getMessage();
      } catch (InvalidConfigException e) {
        return e.getMessage();
      }
    }
  }

  @Test
  void rangesAndChoicesAreThoseOfTheCommand() throws IOException {
    JsonNode properties = json(SERVE_TEXT).get("properties");
    int compared = 0;
    for (String key :
        ConfigKeys.of(new CommandLine(new ReadOptions()).getCommandSpec()).options().keySet()) {
      String others = "";
      if (DIMENSIONS.contains(key)) {
        for (String other : DIMENSIONS) {
          others += other.equals(key) ? "" : other + ": 1\n";
        }
      }
      for (String good : allowed(properties.get(key))) {
        String yaml = key + ": " + good + "\n" + others;
        assertThat(errors(SERVE, yaml)).as(yaml).isEmpty();
        String error = ReadOptions.error(file(yaml));
        assertThat(error.contains(" needs ") ? "" : error).as(yaml).isEmpty();
        compared++;
      }
      for (String bad : refused(properties.get(key))) {
        String yaml = key + ": " + bad + "\n" + others;
        assertThat(errors(SERVE, yaml)).as(yaml).isNotEmpty();
        assertThat(ReadOptions.error(file(yaml))).as(yaml).isNotEmpty();
      }
    }
    assertThat(compared).isGreaterThan(100);
  }

  private static List<String> allowed(JsonNode property) {
    List<String> values = new ArrayList<>();
    property.path("enum").forEach(each -> values.add(each.asText()));
    for (String bound : List.of("minimum", "maximum")) {
      if (property.has(bound)) {
        values.add(property.get(bound).decimalValue().toPlainString());
      }
    }
    return property.path("type").asText().equals("boolean") ? List.of("true", "false") : values;
  }

  private static List<String> refused(JsonNode property) {
    if (property.has("enum") || property.path("type").asText().equals("boolean")) {
      return List.of("nonsense");
    }
    List<String> values = new ArrayList<>();
    if (property.has("minimum")) {
      values.add(property.get("minimum").decimalValue().subtract(BigDecimal.ONE).toPlainString());
    }
    if (property.has("maximum")) {
      values.add(property.get("maximum").decimalValue().add(BigDecimal.ONE).toPlainString());
    }
    return values;
  }

  @Test
  void rangesOfWorkersAreThoseOfTheCommandToo() throws IOException {
    for (WorkerKey key : WorkerKey.all()) {
      JsonNode property = json(SERVE_TEXT).at("/definitions/worker/properties/" + key.name());
      String form = "worker: [{url: http://a:1, %s: %s}]";
      for (String good : allowed(property)) {
        String yaml = form.formatted(key.name(), good);
        assertThat(errors(SERVE, yaml)).as(yaml).isEmpty();
        assertThat(ReadOptions.error(file(yaml)).replace(" must be left out", " needs others"))
            .as(yaml)
            .doesNotContain(key.name() + " must be");
      }
      for (String bad : refused(property)) {
        String yaml = form.formatted(key.name(), bad);
        assertThat(errors(SERVE, yaml)).as(yaml).isNotEmpty();
        assertThat(ReadOptions.error(file(yaml))).as(yaml).isNotEmpty();
      }
    }
  }

  private String file(String yaml) throws IOException {
    return Files.writeString(folder.resolve("serve.yaml"), yaml).toString();
  }
}
