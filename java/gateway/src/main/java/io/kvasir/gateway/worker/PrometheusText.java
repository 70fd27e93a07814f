package io.kvasir.gateway.worker;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads samples of metrics in Prometheus's text format. A line that is not valid is skipped; the
 * other lines count.
 */
final class PrometheusText {

  private static final int MAX_SAMPLES = 100_000;
  private static final int MAX_LABELS = 256;

  private final String line;
  private int at;

  /**
   * A sample.
   *
   * @param name the metric's name
   * @param labels its labels, in order
   * @param value its value
   */
  record Sample(String name, Map<String, String> labels, double value) {

    /** A label as a whole number from 0 to 2^53; -1 if it is missing or something else. */
    long number(String label) {
      String text = labels.get(label);
      return text != null && text.matches("[0-9]{1,15}") ? Long.parseLong(text) : -1;
    }
  }

  private PrometheusText(String line) {
    this.line = line;
  }

  /**
   * Reads the samples of some metrics. O(bytes).
   *
   * @param text the metrics
   * @param names the names of those to read
   * @return their samples, in order, at most 100,000
   */
  static List<Sample> read(byte[] text, Set<String> names) {
    List<Sample> samples = new ArrayList<>();
    int start = 0;
    for (int i = 0; i <= text.length && samples.size() < MAX_SAMPLES; i++) {
      if (i == text.length || text[i] == '\n') {
        if (names.contains(name(text, start, i))) {
          String line = new String(text, start, i - start, StandardCharsets.UTF_8);
          Sample sample = new PrometheusText(line).sample();
          if (sample != null) {
            samples.add(sample);
          }
        }
        start = i + 1;
      }
    }
    return samples;
  }

  private static String name(byte[] text, int from, int to) {
    int end = from;
    while (end < to && isName(text[end])) {
      end++;
    }
    return new String(text, from, end - from, StandardCharsets.US_ASCII);
  }

  private static boolean isName(int c) {
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9')
        || c == '_'
        || c == ':';
  }

  private @Nullable Sample sample() {
    String name = name();
    int afterName = at;
    skipBlanks();
    Map<String, String> labels = new LinkedHashMap<>();
    if (next() != '{' && at == afterName) {
      return null;
    }
    if (next() == '{') {
      at++;
      if (!labels(labels)) {
        return null;
      }
    }
    String[] rest = line.substring(at).strip().split("[ \t]+", 3);
    if (rest.length > 2 || (rest.length == 2 && !rest[1].matches("-?[0-9]{1,19}"))) {
      return null;
    }
    Double value = value(rest[0]);
    return value == null ? null : new Sample(name, labels, value);
  }

  private static @Nullable Double value(String text) {
    return switch (text) {
      case "NaN" -> Double.NaN;
      case "+Inf", "Inf" -> Double.POSITIVE_INFINITY;
      case "-Inf" -> Double.NEGATIVE_INFINITY;
      default ->
          text.length() <= 100
                  && text.matches("[+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][+-]?[0-9]+)?")
              ? Double.valueOf(text)
              : null;
    };
  }

  /** Reads labels up to the closing brace; false if they are not valid. */
  private boolean labels(Map<String, String> labels) {
    while (true) {
      skipBlanks();
      if (next() == '}') {
        at++;
        return true;
      }
      String label = name();
      skipBlanks();
      if (label.isEmpty() || next() != '=') {
        return false;
      }
      at++;
      skipBlanks();
      String value = quoted();
      if (value == null || labels.size() == MAX_LABELS || labels.put(label, value) != null) {
        return false;
      }
      skipBlanks();
      if (next() == ',') {
        at++;
      } else if (next() != '}') {
        return false;
      }
    }
  }

  private @Nullable String quoted() {
    if (next() != '"') {
      return null;
    }
    StringBuilder text = new StringBuilder();
    for (at++; at < line.length(); at++) {
      char c = line.charAt(at);
      if (c == '"') {
        at++;
        return text.toString();
      }
      if (c == '\\') {
        at++;
        switch (next()) {
          case '\\' -> text.append('\\');
          case '"' -> text.append('"');
          case 'n' -> text.append('\n');
          default -> {
            return null;
          }
        }
      } else {
        text.append(c);
      }
    }
    return null;
  }

  private String name() {
    int start = at;
    while (at < line.length() && isName(line.charAt(at))) {
      at++;
    }
    return line.substring(start, at);
  }

  private void skipBlanks() {
    while (next() == ' ' || next() == '\t') {
      at++;
    }
  }

  /** The next character; a line feed, which no line has, at the end. */
  private char next() {
    return at < line.length() ? line.charAt(at) : '\n';
  }
}
