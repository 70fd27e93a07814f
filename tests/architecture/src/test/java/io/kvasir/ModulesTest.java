package io.kvasir;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Which modules need which others. Engines, and with them CUDA, stay away from the gateway. */
@Tag("documents")
class ModulesTest {

  private static final Path JAVA = Path.of(System.getProperty("kvasir.root"), "java");
  private static final Pattern DEPENDENCY =
      Pattern.compile(
          "<dependency>\\s*<groupId>io\\.kvasir</groupId>\\s*<artifactId>kvasir-(\\w+)");

  private static final Map<String, String> NEEDED =
      Map.ofEntries(
          entry("base", ""),
          entry("engine", "base"),
          entry("fleet", "base"),
          entry("exchange", "base"),
          entry("embedded", "engine exchange"),
          entry("gateway", "exchange fleet"),
          entry("llama", "embedded"),
          entry("tokens", "gateway"),
          entry("tcp", "engine"),
          entry("mpi", "engine"),
          entry("simulator", "engine fleet"),
          entry("benchmarks", "simulator"),
          entry("cli", "benchmarks embedded gateway simulator tcp"));

  @Test
  void modulesNeedExactlyWhatIsListed() throws IOException {
    Map<String, String> found = new TreeMap<>();
    for (String module : NEEDED.keySet()) {
      String pom = Files.readString(JAVA.resolve(module).resolve("pom.xml"));
      Stream<String> names = DEPENDENCY.matcher(pom).results().map(match -> match.group(1));
      found.put(
          module,
          names.collect(Collectors.toCollection(TreeSet::new)).stream()
              .collect(Collectors.joining(" ")));
    }
    assertThat(found).isEqualTo(new TreeMap<>(NEEDED));
  }
}
