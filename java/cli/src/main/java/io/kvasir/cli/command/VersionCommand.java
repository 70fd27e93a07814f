package io.kvasir.cli.command;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.kvasir.cli.option.FormatOption;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import java.io.IOException;
import java.io.InputStream;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code kvasir version}. */
@Command(name = "version", description = "Shows the versions of Kvasir, Java and the system.")
final class VersionCommand implements Callable<Integer> {

  private final Console console;

  @Mixin private FormatOption format;

  VersionCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws Exception {
    Map<String, String> versions = new LinkedHashMap<>();
    versions.put("kvasir", kvasirVersion());
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

  /** The version of this build. */
  static String kvasirVersion() throws IOException {
    Properties properties = new Properties();
    try (InputStream file = VersionCommand.class.getResourceAsStream("version.properties")) {
      properties.load(file);
    }
    return properties.getProperty("version");
  }
}
