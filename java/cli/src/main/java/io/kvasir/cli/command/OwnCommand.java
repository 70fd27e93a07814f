package io.kvasir.cli.command;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Command lines that start Kvasir as this process was started. Stateless. */
final class OwnCommand {

  private static final String MAIN = "io.kvasir.cli.Main";

  private OwnCommand() {}

  /**
   * A command line.
   *
   * @param javaOptions options of Java besides those of this process
   * @param words command and options of Kvasir
   */
  static List<String> of(List<String> javaOptions, List<String> words) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    for (String own : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (!own.startsWith("-agentlib")) {
        command.add(own);
      }
    }
    command.addAll(javaOptions);
    command.addAll(
        List.of("-Dkvasir.terminal=false", "-cp", System.getProperty("java.class.path"), MAIN));
    command.addAll(words);
    return command;
  }
}
