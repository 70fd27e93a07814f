package io.kvasir.cli.top;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The metrics of a gateway that the screen shows. Immutable. */
public final class Metrics {

  static final String UPTIME = "process_uptime_seconds";
  static final String RUNNING = "kvasir_num_requests_running";
  static final String WAITING = "kvasir_num_requests_waiting";
  static final String REQUESTS = "kvasir_requests_total";
  static final String SERVED = "kvasir_e2e_request_latency_seconds_count";
  static final String LEGS = "kvasir_leg_seconds_count";
  static final String PROMPT_TOKENS = "kvasir_prefix_cache_queries_total";
  static final String CACHED_TOKENS = "kvasir_prefix_cache_hits_total";
  static final String FIRST_TOKENS = "kvasir_time_to_first_token_seconds_bucket";

  private static final Set<String> SHOWN =
      Set.of(
          UPTIME,
          RUNNING,
          WAITING,
          REQUESTS,
          SERVED,
          LEGS,
          PROMPT_TOKENS,
          CACHED_TOKENS,
          FIRST_TOKENS);

  private static final Pattern SAMPLE =
      Pattern.compile("(\\w+)(?:\\{(.*)\\})? ([-+]?\\d+(?:\\.\\d+)?(?:[eE][-+]?\\d+)?)");

  /**
   * A metric with its labels, as the page has them.
   *
   * @param name the metric
   * @param labels names and values in quotes, separated by commas
   */
  record Series(String name, String labels) {

    /** The value of a label; empty if there is none. */
    String label(String label) {
      String quoted = "," + labels;
      String head = "," + label + "=\"";
      int start = quoted.indexOf(head) + head.length();
      int end = quoted.indexOf('"', start);
      return start < head.length() || end < 0 ? "" : quoted.substring(start, end);
    }
  }

  private final Map<Series, Double> values;

  private Metrics(Map<Series, Double> values) {
    this.values = values;
  }

  /**
   * {@return the metrics of a page}
   *
   * @param page text in Prometheus' format; lines that are not are passed over
   */
  public static Metrics of(String page) {
    Map<Series, Double> values = new HashMap<>();
    for (String line : page.split("\n", -1)) {
      String name = line.split("[{ ]", 2)[0];
      Matcher sample = SAMPLE.matcher(line);
      if (SHOWN.contains(name) && sample.matches()) {
        String labels = sample.group(2) == null ? "" : sample.group(2);
        values.put(new Series(name, labels), Double.parseDouble(sample.group(3)));
      }
    }
    return new Metrics(values);
  }

  Map<Series, Double> values() {
    return values;
  }

  /** The sum of a metric over its labels. */
  double sum(String name) {
    return values.entrySet().stream()
        .filter(each -> each.getKey().name().equals(name))
        .mapToDouble(Map.Entry::getValue)
        .sum();
  }
}
