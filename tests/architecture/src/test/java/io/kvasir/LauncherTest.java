package io.kvasir;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.harness.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the launcher passes to Java, in a repository that is built and with a Java that prints. */
@Tag("process")
@Tag("jdk")
class LauncherTest {

  @TempDir private Path folder;

  private Path root;
  private Path jar;

  @BeforeEach
  void makeARepository() throws IOException {
    root = Files.createDirectory(folder.resolve("a repository"));
    Path app = Files.createDirectories(root.resolve("java/cli/target/launcher"));
    jar = Files.createFile(app.resolve("kvasir-cli.jar"));
    Files.createFile(app.resolve("launcher.stamp"));
    Path java = Files.createDirectories(folder.resolve("jdk/bin")).resolve("java");
    // The archive of classes, which the launcher makes in the background, fails before it is
    // written.
    Files.writeString(
        java,
        "#!/bin/sh\ncase $* in *DumpLoadedClassList*) exit 1 ;; esac\nprintf '%s\\n' \"$@\"\n");
    Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwx------"));
    Files.copy(
        Path.of(Objects.requireNonNull(System.getProperty("kvasir.root")), "kvasir"),
        root.resolve("kvasir"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "unset"})
  void withoutFurtherJarsItRunsTheApplication(String value) throws Exception {
    List<String> words = launch(value.equals("unset") ? null : value);
    assertThat(words).endsWith("-jar", jar.toString(), "replay", "--sessions", "a b");
  }

  @Test
  void furtherJarsFollowTheApplication() throws Exception {
    Path policy = Files.createFile(folder.resolve("my policy.jar"));
    String further = policy + ":" + folder + "/*";
    assertThat(launch(further))
        .endsWith("-cp", jar + ":" + further, "io.kvasir.cli.Main", "replay", "--sessions", "a b");
  }

  @ParameterizedTest
  @ValueSource(strings = {"serve", "engine"})
  void aServerEndsWhenItsHeapIsFull(String command) throws Exception {
    ChildProcess ended = run(null, command, "--port", "0");
    assertThat(ended.output().lines()).contains("-XX:+ExitOnOutOfMemoryError");
  }

  /** With nothing on the PATH, as in an image, and another Java in JAVA_HOME. */
  @Test
  void aPackageRunsItsOwnRuntime() throws Exception {
    Path runtime = Files.createDirectories(root.resolve("runtime/bin")).resolve("java");
    script(runtime, "printf 'packaged\\n'; printf '%s\\n' \"$@\"");
    Path lib = Files.createDirectories(root.resolve("app/tokens/lib"));
    Path tokenizers = Files.createFile(lib.resolve("tokenizers.jar"));
    String app = root.resolve("app/kvasir-cli.jar").toString();
    ProcessBuilder launcher = new ProcessBuilder("/bin/sh", root + "/kvasir", "serve", "a b");
    launcher.environment().clear();
    launcher.environment().put("PATH", folder.resolve("empty").toString());
    launcher.environment().put("HOME", folder.toString());
    launcher.environment().put("JAVA_HOME", folder.resolve("jdk").toString());
    ChildProcess ended = ChildProcess.run("kvasir", launcher);
    assertThat(ended.errors()).isEmpty();
    List<String> words = ended.output().lines().toList();
    String libraries = root.resolve("native").toString();
    assertThat(words).startsWith("packaged").endsWith("io.kvasir.cli.Main", "serve", "a b");
    assertThat(words).contains("-Dkvasir.native=" + libraries, "-Djava.library.path=" + libraries);
    assertThat(words).contains("-XX:+ExitOnOutOfMemoryError", "-XX:+UseParallelGC");
    assertThat(words.get(words.indexOf("-cp") + 1)).startsWith(app + ":").endsWith("" + tokenizers);
  }

  @Test
  void aMissingJarIsAnError() throws Exception {
    ChildProcess ended = run(folder + ":missing policy.jar", "replay");
    assertThat(ended.exitCode()).isEqualTo(1);
    assertThat(ended.errors())
        .isEqualTo("kvasir: no 'missing policy.jar', which KVASIR_CLASSPATH names\n");
  }

  /**
   * The gateway of engines behind HTTP starts without the kernels; what may need them builds them.
   */
  @Test
  void kernelsAreBuiltForCommandsThatMayUseThem() throws Exception {
    Path tools = Files.createDirectories(folder.resolve("tools"));
    script(tools.resolve("nvcc"), "exit 0");
    script(tools.resolve("mvn"), "echo \"$@\" >>'" + folder + "/builds'");
    script(folder.resolve("jdk/bin/javac"), "exit 0");
    script(
        folder.resolve("jdk/bin/java"),
        "[ \"$1\" != -version ] || { echo 'openjdk version \"17.0.1\"' >&2; exit 0; }; exit 1");
    Files.delete(root.resolve("java/cli/target/launcher/launcher.stamp"));

    build(tools, "serve", "--worker", "http://a:1");
    assertThat(builds()).hasSize(1).last().asString().contains(" -Dkvasir.kernels.skip=true ");
    build(tools, "serve", "--worker=http://a:1");
    build(tools, "route", "operations.jsonl");
    assertThat(builds()).as("nothing is left to do").hasSize(1);
    build(tools, "replay");
    assertThat(builds()).hasSize(2).last().asString().doesNotContain("kernels.skip");
    build(tools, "replay");
    build(tools, "serve", "--worker", "http://a:1");
    assertThat(builds()).as("nothing is left to do").hasSize(2);
  }

  private List<String> builds() throws IOException {
    return Files.readAllLines(folder.resolve("builds"));
  }

  private void build(Path tools, String... words) throws IOException {
    List<String> line = new ArrayList<>(List.of("sh", root.resolve("kvasir").toString()));
    line.addAll(List.of(words));
    ProcessBuilder launcher = new ProcessBuilder(line);
    launcher.environment().keySet().removeIf(name -> name.startsWith("KVASIR_"));
    launcher.environment().put("JAVA_HOME", folder.resolve("jdk").toString());
    launcher.environment().put("PATH", tools + ":" + System.getenv("PATH"));
    ChildProcess.run("kvasir", launcher);
  }

  private static void script(Path file, String text) throws IOException {
    Files.writeString(file, "#!/bin/sh\n" + text + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
  }

  private List<String> launch(String classPath) throws IOException {
    ChildProcess ended = run(classPath, "replay", "--sessions", "a b");
    assertThat(ended.exitCode()).as(ended.errors()).isZero();
    return ended.output().lines().toList();
  }

  private ChildProcess run(String classPath, String... words) throws IOException {
    List<String> line = new ArrayList<>(List.of("sh", root.resolve("kvasir").toString()));
    line.addAll(List.of(words));
    ProcessBuilder launcher = new ProcessBuilder(line);
    launcher.environment().keySet().removeIf(name -> name.startsWith("KVASIR_"));
    launcher.environment().put("JAVA_HOME", folder.resolve("jdk").toString());
    if (classPath != null) {
      launcher.environment().put("KVASIR_CLASSPATH", classPath);
    }
    return ChildProcess.run("kvasir", launcher);
  }
}
