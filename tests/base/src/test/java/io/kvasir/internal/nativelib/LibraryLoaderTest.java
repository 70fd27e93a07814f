package io.kvasir.internal.nativelib;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.kvasir.testing.harness.ChildProcess;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.bytedeco.javacpp.Loader;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * From which file a new process loads the library: never from one that another user could plant.
 */
@Tag("process")
@Tag("jdk")
class LibraryLoaderTest {

  @TempDir Path folder;

  /** Prints the library's file. */
  static final class Main {
    public static void main(String... args) {
      PoolLibrary.kvasir_abi_version();
      System.out.println(LibraryLoader.requireLoaded());
    }
  }

  private record Outcome(int exitCode, String output) {}

  private Outcome run(Path home, Path temporary, String... options) throws Exception {
    assumeThat(LibraryLoader.class.getResource("LibraryLoader.class").getProtocol())
        .as("a library in a folder of classes is loaded from there")
        .isEqualTo("jar");
    List<String> command =
        new ArrayList<>(List.of(ProcessHandle.current().info().command().orElseThrow()));
    command.addAll(List.of("-Duser.home=" + home, "-Djava.io.tmpdir=" + temporary));
    command.addAll(List.of(options));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().remove("XDG_CACHE_HOME");
    builder.redirectErrorStream(true);
    try (ChildProcess process = ChildProcess.start("loader", builder)) {
      return new Outcome(process.exitCode(), process.output());
    }
  }

  private Path folder(String name, String mode) throws IOException {
    Path created = Files.createDirectory(folder.resolve(name));
    return Files.setPosixFilePermissions(created, PosixFilePermissions.fromString(mode));
  }

  @Test
  void theUsersCacheIsUsed() throws Exception {
    Path home = folder("home", "rwxr-xr-x");
    Outcome outcome = run(home, folder("tmp", "rwx------"));
    assertThat(outcome.exitCode()).as(outcome.output()).isZero();
    assertThat(outcome.output()).contains(home.toRealPath() + "/.cache/kvasir/");
    assertThat(Files.getPosixFilePermissions(home.resolve(".cache/kvasir")))
        .isEqualTo(PosixFilePermissions.fromString("rwx------"));
  }

  @Test
  void withoutAHomeANewTemporaryFolderIsUsedAndRemoved() throws Exception {
    Path temporary = folder("tmp", "rwx------");
    Outcome outcome = run(Path.of("/proc/no-home"), temporary);
    assertThat(outcome.exitCode()).as(outcome.output()).isZero();
    assertThat(outcome.output()).contains(temporary.toRealPath() + "/kvasir-");
    assertThat(temporary).isEmptyDirectory();
  }

  @Test
  void aTemporaryFolderThatOthersCanChangeIsRefused() throws Exception {
    Outcome outcome = run(Path.of("/proc/no-home"), folder("tmp", "rwxrwxrwx"));
    assertThat(outcome.exitCode()).isNotZero();
    assertThat(outcome.output()).contains("UnsatisfiedLinkError", "other users can write to");
  }

  @Test
  void aConfiguredFolderThatOthersCanOpenIsRefused() throws Exception {
    Path open = folder("open", "rwxr-xr-x");
    Outcome outcome =
        run(folder, folder("tmp", "rwx------"), "-Dorg.bytedeco.javacpp.cachedir=" + open);
    assertThat(outcome.exitCode()).isNotZero();
    assertThat(outcome.output()).contains("must have mode 0700, not 0755");
    assertThat(open).isEmptyDirectory();
  }

  @Test
  void thePackagesFileIsUsedWhereNothingCanBeWritten() throws Exception {
    Path installed = folder("native", "rwxr-xr-x");
    String name = "libjnikvasir.so";
    String platform = Loader.getPlatform();
    try (InputStream library = LibraryLoader.class.getResourceAsStream(platform + "/" + name)) {
      Files.copy(Objects.requireNonNull(library), installed.resolve(name));
    }
    Path nowhere = Path.of("/proc/no-home");
    Outcome outcome = run(nowhere, nowhere, "-Dkvasir.native=" + installed);
    assertThat(outcome.output().strip()).endsWith(installed.resolve(name).toString());
  }

  @Test
  void aPackageWithoutTheFileIsNamed() throws Exception {
    Path empty = folder("native", "rwxr-xr-x");
    Outcome outcome = run(folder, folder("tmp", "rwx------"), "-Dkvasir.native=" + empty);
    assertThat(outcome.exitCode()).isNotZero();
    assertThat(outcome.output())
        .contains("UnsatisfiedLinkError", "no " + empty + "/libjnikvasir.so");
  }

  @Test
  void aBuildForAnotherArchitectureIsNamed() throws Exception {
    String other = System.getProperty("os.arch").equals("aarch64") ? "amd64" : "aarch64";
    Outcome outcome = run(folder, folder("tmp", "rwx------"), "-Dos.arch=" + other);
    assertThat(outcome.exitCode()).isNotZero();
    assertThat(outcome.output())
        .containsPattern("this build is for linux-(x86_64|arm64), not for this machine");
  }
}
