package io.kvasir.cli;

import io.kvasir.testing.harness.ChildProcess;
import io.kvasir.testing.harness.Jdk;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Commands of JVMs that run {@code kvasir}. They load classes from an archive, as JVMs of the
 * launcher do, which takes a third off the CPU time of a start.
 */
public final class KvasirJvm {

  /** Without folders, which are those of the tests: classes in folders cannot be archived. */
  private static final String JARS =
      Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
          .filter(entry -> entry.endsWith(".jar"))
          .collect(Collectors.joining(File.pathSeparator));

  private static final Path ARCHIVE = archive();

  private KvasirJvm() {}

  /**
   * Makes a command.
   *
   * @param options of the JVM
   * @param words for {@code kvasir}
   * @return the command's words; can be changed
   */
  public static List<String> command(List<String> options, String... words) {
    List<String> all = new ArrayList<>(options);
    all.addAll(List.of("-XX:SharedArchiveFile=" + ARCHIVE, "-Xlog:cds*=off"));
    return run(all, words);
  }

  private static List<String> run(List<String> options, String... words) {
    List<String> command = new ArrayList<>(List.of(Jdk.tool("java"), "-XX:TieredStopAtLevel=1"));
    command.addAll(options);
    command.addAll(List.of("-cp", JARS, Main.class.getName()));
    command.addAll(List.of(words));
    return command;
  }

  /** What a server loads that has answered a request. Other jars and JDKs have another archive. */
  private static Path archive() {
    Path folder = Path.of("target", "archives").toAbsolutePath();
    try {
      Files.createDirectories(folder);
      Path archive = folder.resolve(key() + ".jsa");
      if (!Files.exists(archive)) {
        Path made = folder.resolve(ProcessHandle.current().pid() + ".jsa");
        String line = "serve --check --host 127.0.0.1 --port 0 --admin-port 0 --device cpu";
        List<String> command =
            run(List.of("-XX:ArchiveClassesAtExit=" + made), line.split(" ", -1));
        ChildProcess.run("archive", new ProcessBuilder(command).redirectErrorStream(true));
        if (Files.exists(made)) { // a JVM that makes none starts without
          Files.move(made, archive, StandardCopyOption.ATOMIC_MOVE);
        }
      }
      return archive;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String key() throws IOException {
    StringBuilder key = new StringBuilder(System.getProperty("java.home"));
    for (String jar : JARS.split(File.pathSeparator, -1)) {
      key.append(jar).append(Files.getLastModifiedTime(Path.of(jar)));
    }
    return Integer.toHexString(key.toString().hashCode());
  }
}
