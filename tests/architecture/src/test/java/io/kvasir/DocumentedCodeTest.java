package io.kvasir;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.harness.ChildProcess;
import io.kvasir.testing.harness.Jdk;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The Java code of docs and examples/README.md compiles and prints what the documents say: each
 * block is a whole file of examples/embedding. ReadmeTest does the same for the README.
 */
@Tag("process")
@Tag("documents")
class DocumentedCodeTest {

  private static final Path ROOT =
      Path.of(Objects.requireNonNull(System.getProperty("kvasir.root")));
  private static final Path PROJECT = ROOT.resolve("examples/embedding");
  private static final Path RESOURCES = PROJECT.resolve("src/main/resources");
  private static final String CLASS_PATH = System.getProperty("java.class.path");
  private static final Pattern JAVA = Pattern.compile("```java\n(.*?)```\n", Pattern.DOTALL);
  private static final Pattern PINNED =
      Pattern.compile(
          " *<!--[^>]*-->\n *<pluginManagement>.*</pluginManagement>\n", Pattern.DOTALL);

  @TempDir private static Path folder;

  private static Path classes;

  @BeforeAll
  static void compileTheExample() throws IOException {
    classes = folder.resolve("classes");
    compile(classes, "-cp", CLASS_PATH);
  }

  @Test
  void everyBlockOfJavaIsAFileOfTheExample() throws IOException {
    List<String> files = new ArrayList<>();
    for (Path source : sources()) {
      files.add(Files.readString(source));
    }
    int compared = 0;
    for (Path document : documents()) {
      for (String block : blocks(document)) {
        if (!block.startsWith("module ")) {
          assertThat(files).as("sources with the code of %s", document).contains(block);
          compared++;
        }
      }
    }
    assertThat(compared).isEqualTo(6);
  }

  @Test
  void theDeclaredModuleCompiles() throws IOException {
    List<String> modules =
        blocks(ROOT.resolve("docs/embedding.md")).stream()
            .filter(block -> block.startsWith("module "))
            .toList();
    assertThat(modules).hasSize(1);
    Path descriptor = folder.resolve("module-info.java");
    Files.writeString(descriptor, modules.get(0));
    String path =
        Arrays.stream(CLASS_PATH.split(File.pathSeparator, -1))
            .filter(entry -> !entry.endsWith("test-classes"))
            .collect(Collectors.joining(File.pathSeparator));
    compile(folder.resolve("module"), "--module-path", path, descriptor.toString());
  }

  @ParameterizedTest
  @ValueSource(strings = {"FirstDecision", "CustomPolicies", "EngineEvents", "DrivenWorker"})
  void theDocumentShowsWhatAnExamplePrints(String example) throws IOException {
    String output = java("com.example.kvasir." + example);
    assertThat(Files.readString(ROOT.resolve("docs/embedding.md")))
        .contains("```\n" + output + "```\n");
  }

  @ParameterizedTest
  @CsvSource({"shortest_prefill, 1", "adapter, 2"})
  void aReplayTakesACustomPolicy(String policy, String ranks) throws IOException {
    String report =
        java(
            "io.kvasir.cli.Main",
            "replay",
            "--device",
            "cpu",
            "--workers",
            "4",
            "--ranks",
            ranks,
            "--fleet-router",
            policy,
            "--sessions",
            "5");
    assertThat(report).contains(policy);
  }

  @Test
  void theDocumentShowsThePomOfTheExample() throws IOException {
    String pom = Files.readString(PROJECT.resolve("pom.xml"));
    String shown = PINNED.matcher(pom).replaceFirst("");
    assertThat(shown).isNotEqualTo(pom);
    assertThat(Files.readString(ROOT.resolve("docs/embedding.md")))
        .contains("```xml\n" + shown + "```\n");
  }

  private static List<Path> documents() throws IOException {
    try (Stream<Path> docs = Files.list(ROOT.resolve("docs"))) {
      return Stream.concat(docs, Stream.of(ROOT.resolve("examples/README.md")))
          .filter(file -> file.toString().endsWith(".md"))
          .sorted()
          .toList();
    }
  }

  private static List<Path> sources() throws IOException {
    try (Stream<Path> files = Files.walk(PROJECT.resolve("src/main/java"))) {
      return files.filter(file -> file.toString().endsWith(".java")).sorted().toList();
    }
  }

  private static List<String> blocks(Path document) throws IOException {
    return JAVA.matcher(Files.readString(document))
        .results()
        .map((MatchResult block) -> block.group(1))
        .toList();
  }

  private static void compile(Path target, String... options) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Jdk.tool("javac"),
                "--release",
                "17",
                "-Xlint:all,-module,-classfile,-processing,-path"));
    command.addAll(List.of("-proc:none", "-Werror", "-d", target.toString()));
    command.addAll(List.of(options));
    for (Path source : sources()) {
      command.add(source.toString());
    }
    run(command);
  }

  private static String java(String... mainAndWords) throws IOException {
    String path = String.join(File.pathSeparator, classes.toString(), "" + RESOURCES, CLASS_PATH);
    List<String> command =
        new ArrayList<>(
            List.of(
                Jdk.tool("java"),
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                path));
    command.addAll(List.of(mainAndWords));
    return run(command);
  }

  /** Runs a command, and returns its output if it succeeds. */
  private static String run(List<String> command) throws IOException {
    ChildProcess ended = ChildProcess.run(command.get(0), new ProcessBuilder(command));
    assertThat(ended.exitCode()).as(ended.errors()).isZero();
    return ended.output();
  }
}
