package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.trace.SharedTraces;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.tukaani.xz.XZInputStream;

/**
 * Runs every {@code ./kvasir} line in a code block of README, docs and examples, in this process
 * and with smaller sizes. Lines that need a machine that is not here are only parsed.
 */
class DocumentedCommandsTest {

  private static final Path ROOT =
      Path.of(Objects.requireNonNull(System.getProperty("kvasir.root")));
  private static final Pattern COMMAND = Pattern.compile("(?:^|[^\\w.])\\./kvasir( [^|#`\"]*)?");
  private static final int ROWS = 150;

  /** Lines that are only parsed, by a part of them, with the reason. */
  private static final Map<String, String> PARSED =
      Map.ofEntries(
          Map.entry(
              "serve --worker",
              "needs the engines; EngineFleetsTest and GatewayDocsTest start some"),
          Map.entry("serve --upstream", "needs the balancer; ShadowTest starts one"),
          Map.entry("serve --prefill", "needs the engines; StandInLegsTest starts some"),
          Map.entry("serve --disagg-config", "needs the engines; DisaggFileTest reads the file"),
          Map.entry("serve --ssl-certfile", "needs a certificate; TlsTest makes some"),
          Map.entry("serve --api-keys-file", "needs a file of keys; KeysCommandTest makes one"),
          Map.entry("keys", "changes a file; KeysCommandTest does"),
          Map.entry("workers", "needs a gateway; WorkersCommandTest starts some"),
          Map.entry("top", "needs a gateway; TopCommandTest starts some"),
          Map.entry("serve --model", "needs a model; the tests of llama serve one"),
          Map.entry("engine --", "serves until it is stopped; EngineFleetsTest starts some"),
          Map.entry(
              "bench policies --trace", "needs thousands of requests; without a trace it runs"),
          Map.entry("bench policies --fleet-router", "needs the thousands of requests of a trace"),
          Map.entry(
              "bench policies --prefill-workers",
              "plays thousands of requests; BenchPoliciesCommandTest plays a small case"),
          Map.entry("route --trace", "needs a trace of an engine; RouteTraceTest makes some"),
          Map.entry(
              "replay --recording", "needs a recording; RecordedTrafficProcessTest plays one"),
          Map.entry("bench proxy", "takes minutes; the tests of benchmarks run it"),
          Map.entry(
              "bench collective",
              "starts processes of the launcher; the tests of benchmarks run it"));

  /** Lines whose launcher is not here, with the reason. */
  private static final Map<String, String> LEFT_OUT =
      Map.of(
          "mpirun ", "ReplayLaunchTest runs replays under mpirun",
          "srun ", "needs Slurm; LaunchTest reads its variables",
          "exec ./kvasir", "runs in a container of a LeaderWorkerSet",
          "KVASIR_CLASSPATH=", "DocumentedCodeTest runs replays with the policies of the example");

  /** What documents leave open, and the file that a document writes itself. */
  private static final Map<String, String> PLACEHOLDERS =
      Map.of("NAME", "conversation", "SEED", "1", "THRESHOLD", "0.5", "route ops", "route route");

  /** Files that commands write. */
  private static final Set<String> OUTPUTS = Set.of("recording.jsonl", "timing.json");

  /** Sizes that make a command short. */
  private static final Map<String, Map<String, String>> SMALLER =
      Map.of(
          "replay", Map.of("--sessions", "6", "--concurrency", "4", "--turns", "2-4"),
          "bench policies",
              Map.of("--load", "2@0.5,2x2", "--seeds", "1", "--pool-tokens", "250000"),
          "bench index",
              Map.of(
                  "--workers", "4",
                  "--duplicate", "1",
                  "--runs", "1",
                  "--length-factor", "1",
                  "--memberships", "10000",
                  "--window-ms", "200"),
          "serve",
              Map.of("--check", "", "--host", "127.0.0.1", "--port", "0", "--admin-port", "0"));

  /** Where a command says how many requests it plays. */
  private static final int REQUESTS = 300;

  @TempDir private static Path folder;

  private record Line(Path document, String text) {}

  private static List<Line> lines() throws IOException {
    List<Path> documents = new ArrayList<>(List.of(ROOT.resolve("README.md")));
    for (String name : List.of("docs", "examples")) {
      try (Stream<Path> files = Files.list(ROOT.resolve(name))) {
        files.filter(file -> file.toString().endsWith(".md")).sorted().forEach(documents::add);
      }
    }
    List<Line> lines = new ArrayList<>();
    for (Path document : documents) {
      boolean code = false;
      String open = "";
      for (String line : Files.readAllLines(document)) {
        if (line.strip().startsWith("```")) {
          code = !code;
        } else if (code || document.endsWith("examples/README.md")) {
          String text = open + line.strip();
          open = code && text.endsWith("\\") ? text.substring(0, text.length() - 1) : "";
          if (open.isEmpty() && COMMAND.matcher(text).find()) {
            lines.add(new Line(document, text));
          }
        }
      }
    }
    return lines;
  }

  @TestFactory
  Stream<DynamicTest> everyCommandOfTheDocumentsWorks() throws IOException {
    List<Line> lines = lines();
    assertThat(lines).hasSizeGreaterThan(30);
    return lines.stream()
        .filter(line -> LEFT_OUT.keySet().stream().noneMatch(line.text()::contains))
        .map(
            line ->
                DynamicTest.dynamicTest(
                    ROOT.relativize(line.document()) + ": " + line.text(),
                    () -> runAll(line.text())));
  }

  /** Runs the commands of a line, each with the output of the one before. */
  private static void runAll(String line) throws IOException {
    Matcher commands = COMMAND.matcher(line.replace("\\|", "|"));
    String in = "";
    while (commands.find()) {
      String text = commands.group(1) == null ? "" : commands.group(1).strip();
      Outcome outcome = run(text, in);
      assertThat(outcome.exitCode()).as("%s: %s", text, outcome.err()).isZero();
      in = outcome.out();
    }
  }

  private static Outcome run(String text, String in) throws IOException {
    String input = in;
    List<String> words = new ArrayList<>();
    String line = text;
    for (Map.Entry<String, String> word : PLACEHOLDERS.entrySet()) {
      line = line.replace(word.getKey(), word.getValue());
    }
    for (String word : line.split(" +", -1)) {
      if (word.isEmpty() || word.equals("&") || word.startsWith("/dev/null")) {
        continue;
      }
      words.add(word.startsWith("--") || word.equals("<") ? word : file(word));
    }
    int target = words.indexOf(">");
    String output = target >= 0 && target + 1 < words.size() ? words.remove(target + 1) : null;
    words.remove(">");
    int redirection = words.indexOf("<");
    if (redirection >= 0) {
      input = Files.readString(Path.of(words.remove(redirection + 1)));
      words.remove(redirection);
    }
    if (PARSED.keySet().stream().anyMatch(String.join(" ", words)::startsWith)) {
      words.add("--help");
    } else {
      SMALLER.forEach(
          (command, sizes) -> {
            if (String.join(" ", words).startsWith(command)) {
              sizes.forEach((option, value) -> set(words, option, value));
            }
          });
      int requests = words.indexOf("--requests");
      if (requests >= 0) {
        words.set(requests + 1, "" + REQUESTS);
      }
    }
    Outcome outcome = Outcome.of(Map.of(), input, words.toArray(String[]::new));
    if (output != null) {
      Files.writeString(Path.of(output), outcome.out());
    }
    return outcome;
  }

  /** Sets an option, unless it does not apply to the other words. */
  private static void set(List<String> words, String option, String value) {
    int index = words.indexOf(option);
    if (index >= 0) {
      words.set(index + 1, value);
    } else if (!ofOthers(words, option)) {
      words.add(option);
      if (!value.isEmpty()) {
        words.add(value);
      }
    }
  }

  private static boolean ofOthers(List<String> words, String option) {
    boolean requests = words.contains("--trace") || words.contains("--workload");
    return words.contains("--help")
        || (words.get(0).equals("replay")
            && (requests || words.contains("--config") || option.equals("--concurrency")));
  }

  /** A file of this machine for one that a document names. */
  private static String file(String word) throws IOException {
    String name = word.substring(word.lastIndexOf('/') + 1);
    if (OUTPUTS.contains(name) || name.endsWith(".html")) {
      return folder.resolve(name).toString();
    }
    if (name.startsWith("conversation_trace") || name.startsWith("synthetic_trace")) {
      return excerpt(name + ".xz", 0);
    }
    if (name.startsWith("AzureLLMInferenceTrace_conv")) {
      return excerpt(name + ".xz", 1);
    }
    if (name.equals("kvasir.yaml")) {
      return settings(name);
    }
    Path example = ROOT.resolve("examples").resolve(name);
    return Files.isRegularFile(example) ? example.toString() : word;
  }

  /** The example, with the path of its trace for this working directory. */
  private static String settings(String name) throws IOException {
    String text = Files.readString(ROOT.resolve("examples").resolve(name));
    assertThat(text).contains("trace: examples/trace.jsonl");
    Path copy = folder.resolve(name);
    Files.writeString(
        copy, text.replace("trace: examples/", "trace: " + ROOT.resolve("examples") + "/"));
    return copy.toString();
  }

  /** The first rows of a recorded trace, which is skipped where there are none. */
  private static String excerpt(String name, int heads) throws IOException {
    Path excerpt = folder.resolve(name.replace(".xz", ""));
    if (!Files.exists(excerpt)) {
      try (BufferedReader lines =
          new BufferedReader(
              new InputStreamReader(
                  new XZInputStream(Files.newInputStream(SharedTraces.require(name))),
                  StandardCharsets.UTF_8))) {
        Files.writeString(
            excerpt, lines.lines().limit(ROWS + heads).collect(Collectors.joining("\n", "", "\n")));
      }
    }
    return excerpt.toString();
  }
}
