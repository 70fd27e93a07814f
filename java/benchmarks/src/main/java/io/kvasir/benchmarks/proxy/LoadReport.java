package io.kvasir.benchmarks.proxy;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/**
 * What the load generator measured in one run. Immutable.
 *
 * @param numbers all numbers, by their path in the report, for example {@code first_byte_us.p50}
 * @param firstError the first wrong answer; empty if all were right
 */
public record LoadReport(Map<String, Double> numbers, String firstError) {

  private static final JsonFactory JSON = new JsonFactory();

  /** Copies the numbers. */
  public LoadReport {
    numbers = Map.copyOf(numbers);
  }

  /**
   * Reads a report.
   *
   * @param line a JSON object
   * @return the report
   * @throws IOException if it is not one
   */
  static LoadReport parse(String line) throws IOException {
    Map<String, Double> numbers = new HashMap<>();
    String firstError = "";
    try (JsonParser json = JSON.createParser(line)) {
      for (JsonToken token = json.nextToken(); token != null; token = json.nextToken()) {
        if (token.isNumeric()) {
          numbers.put(path(json), json.getDoubleValue());
        } else if (token == JsonToken.VALUE_STRING && path(json).equals("first_error")) {
          firstError = json.getText();
        }
      }
    }
    return new LoadReport(numbers, firstError);
  }

  private static String path(JsonParser json) {
    return json.getParsingContext().pathAsPointer().toString().substring(1).replace('/', '.');
  }

  /**
   * A number of the report.
   *
   * @param path its path
   * @return the number
   * @throws IllegalArgumentException if there is none
   */
  public double number(String path) {
    Double number = numbers.get(path);
    if (number == null) {
      throw new IllegalArgumentException("the load generator's report has no " + path);
    }
    return number;
  }

  /**
   * A figure of measured times.
   *
   * @param times what was measured, for example {@code first_byte_us}
   * @param figure the figure, for example {@code p50}
   * @return the figure; undefined if nothing was measured
   */
  double time(String times, String figure) {
    return number(times + ".count") > 0 ? number(times + "." + figure) : Double.NaN;
  }

  /** {@return how many answers were wrong} */
  public long failed() {
    return (long) number("failed");
  }

  /** An exception if an answer of this server was wrong. */
  void check(String server) throws IOException {
    if (failed() > 0) {
      throw new IOException(
          server + " gave " + failed() + " wrong answers, the first is " + firstError);
    }
  }
}
