package io.kvasir.gateway.proxy;

import io.kvasir.exchange.Headers;
import io.kvasir.fleet.router.LatencyTargets;
import io.kvasir.gateway.keys.KeyUse;
import io.kvasir.gateway.openai.InvalidBodyException;
import io.kvasir.model.Decimals;
import io.kvasir.model.Errors;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How soon a client needs its answer. Immutable.
 *
 * @param targets the times that it asks for
 * @param priority its class; a request of a negative class may be refused if its targets cannot be
 *     met
 */
record Urgency(LatencyTargets targets, int priority) {

  /** A request of the usual class that asks for no times. */
  static final Urgency NONE = new Urgency(LatencyTargets.NONE, 0);

  /** The headers of llm-d, with their older names. */
  private static final List<String> TTFT = List.of("x-llm-d-slo-ttft-ms", "x-slo-ttft-ms");

  private static final List<String> TPOT = List.of("x-llm-d-slo-tpot-ms", "x-slo-tpot-ms");
  private static final String PRIORITY = "x-kvasir-priority";
  private static final double MAX_MS = 86_400_000;
  private static final int MAX_PRIORITY = 1000;

  /**
   * Reads the headers of a request.
   *
   * @throws InvalidBodyException naming the header whose value is out of range
   */
  static Urgency of(Headers headers) throws InvalidBodyException {
    return of(headers, null);
  }

  /**
   * Reads the headers of a request with a key, which bounds its class.
   *
   * @param key the key; null for none
   * @throws InvalidBodyException naming the header whose value is out of range
   */
  static Urgency of(Headers headers, @Nullable KeyUse key) throws InvalidBodyException {
    double ttftMs = milliseconds(headers, TTFT);
    double tpotMs = milliseconds(headers, TPOT);
    String named = headers.get(PRIORITY);
    int priority = priority(named);
    if (key != null) {
      int most = key.key().limits().priority();
      priority = named == null ? most : Math.min(priority, most);
    }
    boolean any = ttftMs < Double.POSITIVE_INFINITY || tpotMs < Double.POSITIVE_INFINITY;
    return any || priority != 0
        ? new Urgency(any ? new LatencyTargets(ttftMs, tpotMs) : LatencyTargets.NONE, priority)
        : NONE;
  }

  private static double milliseconds(Headers headers, List<String> names)
      throws InvalidBodyException {
    for (String name : names) {
      String text = headers.get(name);
      if (text != null) {
        double ms = number(text);
        if (!(ms > 0 && ms <= MAX_MS)) {
          throw new InvalidBodyException(
              name,
              name
                  + " must be milliseconds above 0 and at most 86400000, not '"
                  + Errors.shown(text)
                  + "'");
        }
        return ms;
      }
    }
    return Double.POSITIVE_INFINITY;
  }

  private static double number(String text) {
    Double value = Decimals.number(text);
    return value == null ? Double.NaN : value;
  }

  private static int priority(@Nullable String text) throws InvalidBodyException {
    if (text == null) {
      return 0;
    }
    double value = number(text);
    if (!(Math.abs(value) <= MAX_PRIORITY) || value != Math.rint(value)) {
      throw new InvalidBodyException(
          PRIORITY,
          PRIORITY + " must be an integer from -1000 to 1000, not '" + Errors.shown(text) + "'");
    }
    return (int) value;
  }
}
