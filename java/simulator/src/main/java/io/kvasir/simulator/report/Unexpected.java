package io.kvasir.simulator.report;

import io.kvasir.simulator.fleet.FleetResult;
import io.kvasir.simulator.replay.ReplayResult;
import java.util.Map;
import java.util.StringJoiner;
import java.util.TreeMap;

/** Says what routers do not see of the requests, and which workers join late. Stateless. */
final class Unexpected {

  private static final double NS_PER_S = 1e9;

  private Unexpected() {}

  /** For example {@code Hidden from routers: forgotten ids 0.5}; empty if nothing is unexpected. */
  static String of(ReplayResult result) {
    StringJoiner facts = new StringJoiner("; ");
    String hidden = result.settings().sight().difference();
    if (!hidden.isEmpty()) {
      facts.add("Hidden from routers: " + hidden);
    }
    FleetResult fleet = result.fleet();
    Map<Integer, Long> joins = fleet == null ? Map.of() : fleet.settings().returnNs();
    if (!joins.isEmpty()) {
      StringJoiner workers = new StringJoiner(", ", "Workers that join: ", "");
      new TreeMap<>(joins)
          .forEach(
              (worker, ns) ->
                  workers.add("w" + worker + " at " + Numbers.measure(ns / NS_PER_S) + " s"));
      facts.add(workers.toString());
    }
    return facts.toString();
  }
}
