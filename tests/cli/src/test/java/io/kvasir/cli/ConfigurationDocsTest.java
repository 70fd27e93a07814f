package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.cli.command.ReplayCommand;
import io.kvasir.cli.command.ServeCommand;
import io.kvasir.cli.option.Block;
import io.kvasir.cli.option.ConfigKeys;
import io.kvasir.cli.option.Environment;
import io.kvasir.cli.option.Settings;
import io.kvasir.engine.adp.AttentionDpConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** The table in docs/configuration.md says what the options say. */
@Tag("documents")
class ConfigurationDocsTest {

  private static final String HEAD =
      "| key | option | variable | default | value |\n|---|---|---|---|---|\n";

  private static final String BLOCKS_HEAD = "| block | what | keys |\n|---|---|---|\n";

  private static final Pattern DEFAULT = Pattern.compile("\\(default:?(.*)\\)\\.$");

  private static final String APART = " --prefill-workers 1 --decode-workers 1";

  /** Without these the option would not be looked at. */
  private static final Map<String, String> CONTEXT =
      Map.ofEntries(
          Map.entry("--trace-block-tokens", " --trace pom.xml"),
          Map.entry("--trace-columns", " --trace pom.xml"),
          Map.entry("--trace-sort", " --trace pom.xml"),
          Map.entry("--speed", " --rate 1"),
          Map.entry("--fleet-router-args", " --workers 2"),
          Map.entry("--what-if", " --workers 2"),
          Map.entry("--return", " --workers 2"),
          Map.entry("--prefill-workers", " --decode-workers 1"),
          Map.entry("--decode-workers", " --prefill-workers 1"),
          Map.entry("--prefill-router", APART),
          Map.entry("--prefill-router-args", APART + " --prefill-router cost"),
          Map.entry("--decode-router", APART),
          Map.entry("--decode-router-args", APART + " --decode-router cost"),
          Map.entry("--max-local-prefill-tokens", APART),
          Map.entry("--tool-tokens", " --workload agentic"),
          Map.entry("--sub-agents", " --workload agentic"),
          Map.entry("--requests", " --workload uniform"),
          Map.entry("--prefixes", " --workload shared_prefix"),
          Map.entry("--prefix-tokens", " --workload shared_prefix"),
          Map.entry("--prefix-skew", " --workload shared_prefix"),
          Map.entry("--num-hidden-layers", " --num-key-value-heads 8 --head-dim 128"),
          Map.entry("--num-key-value-heads", " --num-hidden-layers 8 --head-dim 128"),
          Map.entry("--head-dim", " --num-key-value-heads 8 --num-hidden-layers 8"),
          Map.entry("--kv-cache-memory-bytes", " --kv-bytes-per-token 1024"),
          Map.entry("--transfer-bandwidth", " --mode context"),
          Map.entry("--generation-ms-per-token", " --mode context"));

  /** What no value breaks, or only a machine with a GPU looks at. */
  private static final Map<String, String> WORDS =
      Map.ofEntries(
          Map.entry("--trace", "a path"),
          Map.entry("--recording", "a path"),
          Map.entry("--trace-time-unit", "one of s, ms, us, ns"),
          Map.entry("--config", "a path; not in a file itself"),
          Map.entry("--device", "auto, cpu, cuda, cuda:0,1 or cuda:local"),
          Map.entry("--master-addr", "a host"),
          Map.entry("--interface", "an interface or an address of this node"),
          Map.entry("--secret-file", "a path"),
          Map.entry("--ssl-certfile", "a path"),
          Map.entry("--ssl-keyfile", "a path"),
          Map.entry("--ssl-ca-certs", "a path"),
          Map.entry("--report", "a path"),
          Map.entry("--extra-llm-api-options", "a path"),
          Map.entry("--kv-cache-free-gpu-memory-fraction", "a number from 0.001 to 1.0"));

  @Test
  void theTableHasEveryOptionWithItsDefaultAndRange() throws IOException {
    Path root = Path.of(Objects.requireNonNull(System.getProperty("kvasir.root")));
    String page = Files.readString(root.resolve("docs/configuration.md"));

    assertThat(page)
        .as("the end of docs/configuration.md")
        .endsWith(HEAD + String.join("\n", rows()) + "\n");
  }

  @Test
  void theTableOfBlocksHasEveryKeyOfServe() throws IOException {
    List<String> rows = new ArrayList<>();
    ConfigKeys.of(new CommandLine(new ServeCommand(null, null, null)).getCommandSpec())
        .inBlocks()
        .forEach((block, keys) -> rows.add(row(block, keys)));
    Path root = Path.of(Objects.requireNonNull(System.getProperty("kvasir.root")));

    assertThat(Files.readString(root.resolve("docs/configuration.md")))
        .as("the blocks in docs/configuration.md")
        .contains("\n" + BLOCKS_HEAD + String.join("\n", rows) + "\n\n");
  }

  private static String row(Block block, List<String> keys) {
    return "| %s | %s | %s |"
        .formatted(
            block == Block.TOP ? "none" : "`" + block.key() + "`",
            block.description().replaceFirst("\\.$", ""),
            keys.stream().map(key -> "`" + key + "`").collect(Collectors.joining(", ")));
  }

  @Test
  void everyOptionIsAText() {
    assertThat(options()).allMatch(option -> option.type() == String.class);
  }

  /** Options that shape nothing, or whose outcome is in the report. */
  private static final Set<String> UNREPORTED =
      Set.of(
          "--trace", // the report's workload
          "--recording", // likewise
          "--config",
          "--format",
          "--device",
          "--processes",
          "--join-timeout-seconds",
          "--collective",
          "--collective-timeout-seconds",
          "--rank",
          "--world-size",
          "--local-rank",
          "--master-addr",
          "--master-port",
          "--interface",
          "--secret-file",
          "--ssl-certfile",
          "--ssl-keyfile",
          "--ssl-ca-certs",
          "--spin-micros",
          "--report",
          "--step-timing", // in the report if it is given
          "--engine-timing", // likewise
          "--slow", // likewise
          "--hang", // likewise
          "--foreign-load", // likewise
          "--forget-ids", // likewise
          "--answers", // likewise
          "--return", // likewise
          "--projected-omitted-term", // likewise
          "--extra-llm-api-options", // sets other options
          "--num-hidden-layers", // with the next ones, poolTokens
          "--num-key-value-heads",
          "--head-dim",
          "--kv-cache-dtype",
          "--kv-bytes-per-token",
          "--kv-cache-memory-bytes",
          "--kv-cache-free-gpu-memory-fraction");

  @Test
  void aReportContainsEveryOptionThatShapedIt() {
    Set<String> reported = new HashSet<>();
    for (String workload :
        List.of(
            "--think-time lognormal --sessions 2",
            "--sessions 2 --rate 1 --speed 2 --groups full,mamba",
            "--workload shared_prefix --requests 2 --rate 1 --goodput ttft:100",
            "--sessions 2 --ranks 1 --workers 2 --fleet-router polled --what-if cost",
            "--workload agentic --sessions 1 --turns 2",
            "--sessions 2 --ranks 1 --prefill-workers 1 --decode-workers 1",
            "--sessions 2 --mode context --ramp-seconds 1")) {
      JsonNode report =
          Outcome.of(Map.of(), "replay --router default --format json " + workload).json();
      report.get("config").fieldNames().forEachRemaining(reported::add);
      report.fieldNames().forEachRemaining(reported::add);
    }
    reported.addAll(
        List.of( // of a trace
            "traceBlockTokens", "traceTimeUnit", "traceColumns", "traceSort", "turnsWait"));
    assertThat(reported).contains("workers", "fleetRouter", "fleetRouterArgs");

    assertThat(options())
        .extracting(OptionSpec::longestName)
        .filteredOn(option -> !UNREPORTED.contains(option))
        .allMatch(option -> reported.contains(camelCase(option)), "is in the report");
  }

  private static String camelCase(String option) {
    String name = option.replaceFirst("^-+", "");
    return Pattern.compile("-(.)")
        .matcher(name)
        .replaceAll(m -> m.group(1).toUpperCase(Locale.ROOT));
  }

  private static List<String> rows() {
    List<String> rows = new ArrayList<>();
    for (OptionSpec option : options()) {
      String name = option.longestName();
      String key = "`" + Settings.key(name) + "`";
      if (name.equals("--config")) {
        key = "";
      } else if (AttentionDpConfig.keys().contains(Settings.key(name))) {
        key = "*" + key + "*";
      }
      rows.add(
          "| %s | `%s` | `%s` | %s | %s |"
              .formatted(key, name, Environment.variable(name), initial(option), values(name)));
    }
    return rows;
  }

  /** The default, or what the help says about it. */
  private static String initial(OptionSpec option) {
    if (option.defaultValue() != null) {
      return "`" + option.defaultValue() + "`";
    }
    Matcher said = DEFAULT.matcher(String.join(" ", option.description()));
    return said.find() ? said.group(1).strip() : "";
  }

  private static List<OptionSpec> options() {
    return new CommandLine(new ReplayCommand(null, null))
        .getCommandSpec().options().stream()
            .filter(option -> option.arity().max() > 0 && !option.hidden())
            .sorted((a, b) -> Integer.compare(a.order(), b.order()))
            .toList();
  }

  /** What is allowed, as the error says that an absurd value gets. */
  private static String values(String option) {
    if (WORDS.containsKey(option)) {
      return WORDS.get(option);
    }
    String error =
        Outcome.of(Map.of(), "replay " + option + " ?" + CONTEXT.getOrDefault(option, "")).err();
    assertThat(error).startsWith(option + " must be ").endsWith(", not '?'\n");
    return error.substring((option + " must be ").length(), error.lastIndexOf(", not '?'"));
  }
}
