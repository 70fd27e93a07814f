package io.kvasir.cli.top;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What the counters of a gateway gained between two looks: in all, by worker and by rank. A counter
 * that became smaller has restarted from 0, as all have if the gateway has started in between.
 *
 * <p>Not to be changed.
 */
public final class Rates {

  private static final double NS_PER_S = 1e9;
  private static final double MS_PER_S = 1e3;
  private static final Pattern BOUND = Pattern.compile("\\d+(?:\\.\\d+)?(?:[eE][-+]?\\d+)?");

  private final double seconds;
  private final Map<List<String>, Double> gains = new HashMap<>();

  /** First tokens, by the upper bound of their times in seconds; each counts those below, too. */
  private final NavigableMap<Double, Double> firstTokens = new TreeMap<>();

  private Rates(double seconds) {
    this.seconds = seconds;
  }

  /**
   * {@return what changed}
   *
   * @param before the earlier look; null if there was none, and nothing is known
   * @param now the later one
   */
  public static Rates between(@Nullable Look before, Look now) {
    if (before == null) {
      return new Rates(Double.NaN);
    }
    Rates rates = new Rates((now.atNs() - before.atNs()) / NS_PER_S);
    boolean restarted = now.metrics().sum(Metrics.UPTIME) < rates.seconds;
    Map<Metrics.Series, Double> earlier = restarted ? Map.of() : before.metrics().values();
    now.metrics()
        .values()
        .forEach(
            (series, value) -> {
              double old = earlier.getOrDefault(series, 0.0);
              rates.add(series, value < old ? value : value - old);
            });
    return rates;
  }

  private void add(Metrics.Series series, double gain) {
    String name = series.name();
    if (name.equals(Metrics.FIRST_TOKENS)) {
      String bound = series.label("le");
      if (bound.equals("+Inf")) {
        firstTokens.merge(Double.POSITIVE_INFINITY, gain, Double::sum);
      } else if (BOUND.matcher(bound).matches()) {
        firstTokens.merge(Double.parseDouble(bound), gain, Double::sum);
      }
      return;
    }
    String worker = series.label("worker_id");
    if (!name.equals(Metrics.LEGS) || series.label("role").equals("prefill")) {
      gains.merge(List.of(name), gain, Double::sum);
      gains.merge(List.of(name, worker), gain, Double::sum);
      gains.merge(List.of(name, worker, series.label("dp_rank")), gain, Double::sum);
    }
  }

  private double gain(String name, List<String> place) {
    List<String> key = new ArrayList<>(List.of(name));
    key.addAll(place);
    return gains.getOrDefault(key, 0.0);
  }

  /** The gain of a counter per second at a worker and a rank, or in all without a place. */
  double perSecond(String counter, List<String> place) {
    return gain(counter, place) / seconds;
  }

  /** The share of prompt tokens that came from caches at that place; NaN if there were none. */
  double hits(List<String> place) {
    return gain(Metrics.CACHED_TOKENS, place) / gain(Metrics.PROMPT_TOKENS, place);
  }

  /**
   * A quantile of the times of first tokens in milliseconds, linear between the bounds of the
   * histogram; NaN if there were none. Above the last bound it is that bound.
   */
  double firstTokenMs(double share) {
    double all = firstTokens.isEmpty() ? 0 : firstTokens.lastEntry().getValue();
    double below = 0;
    double bound = 0;
    for (Map.Entry<Double, Double> bucket : firstTokens.entrySet()) {
      double count = bucket.getValue();
      if (count > 0 && count >= share * all) {
        double upper = bucket.getKey();
        double part = Double.isInfinite(upper) ? 0 : (share * all - below) / (count - below);
        return MS_PER_S * (bound + (part == 0 ? 0 : part * (upper - bound)));
      }
      below = count;
      bound = bucket.getKey();
    }
    return Double.NaN;
  }
}
