package io.kvasir.cli.command;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.kvasir.cli.option.FormatOption;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code kvasir version}. */
@Command(
    name = "version",
    description = "Shows the versions of Kvasir, Java and the system.",
    footer = {"", "Exit codes: 0 done, 1 the output could not be written, 2 wrong usage."})
final class VersionCommand implements Callable<Integer> {

  private final Console console;

  @Mixin private FormatOption format;

  VersionCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws Exception {
    Map<String, String> versions = new LinkedHashMap<>();
    BuildVersion build = BuildVersion.read();
    versions.put("kvasir", build.version());
    versions.put("commit", build.commit());
    versions.put("built", build.date());
    versions.put(
        "java", System.getProperty("java.version") + " " + System.getProperty("java.vendor"));
    versions.put("os", System.getProperty("os.name") + " " + System.getProperty("os.arch"));
    console.print(
        format.isText() ? text(versions) : new JsonMapper().writeValueAsString(versions) + "\n");
    return ExitCode.DONE;
  }

  private static String text(Map<String, String> versions) {
    return versions.entrySet().stream()
        .map(each -> each.getKey() + " " + each.getValue() + "\n")
        .collect(Collectors.joining());
  }
}
