package io.kvasir;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.harness.ChildProcess;
import io.kvasir.testing.harness.Jdk;
import java.io.File;
import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The engine and the fleet half work as named modules: each module of {@code src/test/modules} is
 * compiled and run on a module path of what it requires, with nothing on the class path.
 */
@Tag("jdk")
class NamedModulesTest {

  private static final Path SOURCES =
      Path.of(System.getProperty("kvasir.root"), "tests/architecture/src/test/modules");

  /** A module of this test's class path. */
  private record Module(Path place, Set<String> requires) {}

  /** The modules of java/ and everything they depend on, by name. */
  private static final Map<String, Module> BUILT = modules(System.getProperty("java.class.path"));

  private static Map<String, Module> modules(String classPath) {
    Map<String, Module> modules = new TreeMap<>();
    for (String entry : classPath.split(File.pathSeparator, -1)) {
      Path place = Path.of(entry);
      for (ModuleReference found : ModuleFinder.of(place).findAll()) {
        Set<String> requires =
            found.descriptor().requires().stream()
                .map(ModuleDescriptor.Requires::name)
                .collect(Collectors.toSet());
        modules.put(found.descriptor().name(), new Module(place, requires));
      }
    }
    return modules;
  }

  @TempDir private Path folder;

  @Tag("process")
  @Test
  void anIndexWorksInANamedModule() throws Exception {
    assertThat(compileAndRun("fleet")).isEqualTo("matched 2\n");
  }

  @Tag("process")
  @Test
  void aPoolWorksInANamedModule() throws Exception {
    assertThat(compileAndRun("engine")).isEqualTo("matched 3\n");
  }

  @Test
  void theFleetHalfRequiresNoCuda() {
    assertThat(required("io.kvasir.fleet"))
        .contains("io.kvasir.base", "org.bytedeco.javacpp")
        .doesNotContain("io.kvasir.engine", "jcuda", "org.bytedeco.cuda");
    assertThat(required("io.kvasir.engine"))
        .as("negative control")
        .contains("jcuda", "org.bytedeco.cuda");
  }

  private String compileAndRun(String half) throws IOException {
    Path sources = SOURCES.resolve(half);
    Path classes = folder.resolve("classes");
    String path = join(modulePath("io.kvasir." + half));
    List<String> compile =
        new ArrayList<>(
            List.of(Jdk.tool("javac"), "--module-path", path, "-d", classes.toString()));
    try (Stream<Path> files = Files.walk(sources)) {
      files
          .filter(file -> file.toString().endsWith(".java"))
          .forEach(file -> compile.add(file.toString()));
    }
    run(compile);
    return run(
        List.of(
            Jdk.tool("java"),
            "--enable-native-access=ALL-UNNAMED",
            "-XX:TieredStopAtLevel=1",
            "--module-path",
            classes + File.pathSeparator + path,
            "--module",
            "example." + half + "/example." + half + ".Main"));
  }

  /** Runs a command, and returns its output if it succeeds. */
  private static String run(List<String> command) throws IOException {
    ChildProcess ended = ChildProcess.run(command.get(0), new ProcessBuilder(command));
    assertThat(ended.exitCode()).as(ended.errors()).isZero();
    return ended.output();
  }

  /** Where a module and everything it requires lie. */
  private static List<Path> modulePath(String module) {
    return required(module).stream().map(BUILT::get).map(Module::place).toList();
  }

  /** The modules that a module requires, itself included, without those of the JDK. */
  private static Set<String> required(String module) {
    Set<String> required = new TreeSet<>();
    Deque<String> waiting = new ArrayDeque<>(List.of(module));
    while (!waiting.isEmpty()) {
      String next = waiting.remove();
      if (BUILT.containsKey(next) && required.add(next)) {
        waiting.addAll(BUILT.get(next).requires());
      }
    }
    return required;
  }

  private static String join(List<Path> places) {
    return places.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
  }
}
