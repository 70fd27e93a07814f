package io.kvasir.tokens.template;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.tokens.PythonProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The templates and conversations in tests/vectors/chat-templates, and what Jinja makes of them.
 */
final class TemplateVectors {

  private static final Path FOLDER = PythonProcess.TESTS.resolve("vectors/chat-templates");

  private TemplateVectors() {}

  /** Sources by name. */
  static Map<String, String> templates() throws IOException {
    Map<String, String> templates = new TreeMap<>();
    try (Stream<Path> files = Files.list(FOLDER)) {
      for (Path file : files.filter(one -> one.toString().endsWith(".jinja")).toList()) {
        String name = String.valueOf(file.getFileName());
        templates.put(name.substring(0, name.indexOf('.')), Files.readString(file));
      }
    }
    return templates;
  }

  /** Variables by the name of the conversation. */
  static JsonNode conversations() throws IOException {
    return PythonProcess.JSON.readTree(Files.readString(FOLDER.resolve("conversations.json")));
  }

  /** By template, then by conversation. */
  static JsonNode answers() throws IOException {
    return PythonProcess.JSON.readTree(Files.readString(FOLDER.resolve("answers.json")));
  }
}
