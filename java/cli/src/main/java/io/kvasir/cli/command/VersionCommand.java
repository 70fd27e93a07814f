package io.kvasir.cli.command;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.kvasir.cli.option.CommonOptions;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code kvasir version}: what is running, on what. */
@Command(name = "version", description = "Show the versions of Kvasir and of what it runs on.")
final class VersionCommand implements Callable<Integer> {

  private final Console console;

  @Mixin private CommonOptions common;

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
        switch (common.format()) {
          case TEXT -> text(versions);
          case JSON -> json(versions);
        });
    return ExitCode.DONE;
  }

  private static String text(Map<String, String> versions) {
    return versions.entrySet().stream()
        .map(each -> each.getKey() + " " + each.getValue() + "\n")
        .collect(Collectors.joining());
  }

  private static String json(Map<String, String> versions) throws IOException {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = new JsonFactory().createGenerator(text)) {
      json.writeStartObject();
      for (Map.Entry<String, String> each : versions.entrySet()) {
        json.writeStringField(each.getKey(), each.getValue());
      }
      json.writeEndObject();
    }
    return text + "\n";
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
