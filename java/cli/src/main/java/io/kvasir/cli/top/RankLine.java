package io.kvasir.cli.top;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What the screen shows for a rank, or for a worker without known ranks.
 *
 * @param name worker, rank and role
 * @param state what an operator should know first: the worker's state, then that of the rank's
 *     event stream
 * @param active blocks of requests in progress
 * @param cached other blocks that the rank is known to hold
 * @param size all its blocks; 0 if unknown
 * @param requests in progress
 * @param queuedTokens prompt tokens placed there that are still to be computed; negative if unknown
 * @param perSecond requests that it has served a second; NaN if unknown
 * @param hits share of prompt tokens from its cache; NaN if unknown
 */
record RankLine(
    String name,
    String state,
    long active,
    long cached,
    long size,
    long requests,
    long queuedTokens,
    double perSecond,
    double hits) {

  /** The busiest ranks first. */
  static final Comparator<RankLine> BUSIEST =
      Comparator.comparingLong(RankLine::requests)
          .thenComparingLong(RankLine::queuedTokens)
          .thenComparingLong(RankLine::active)
          .reversed();

  /** All ranks as the gateway lists them, then workers without known ranks. */
  static List<RankLine> all(Look look, Rates rates) {
    Map<String, JsonNode> workers = new HashMap<>();
    look.workers().forEach(each -> workers.put(each.path("worker_id").asText(), each));
    Set<String> listed = new HashSet<>();
    List<RankLine> lines = new ArrayList<>();
    for (JsonNode of : look.ranks()) {
      String id = of.path("worker_id").asText();
      listed.add(id);
      JsonNode worker = workers.getOrDefault(id, of);
      String state = state(of.path("healthy").asBoolean(), worker);
      for (JsonNode rank : of.path("ranks")) {
        lines.add(line(of, rank, state, rates));
      }
    }
    for (JsonNode worker : look.workers()) {
      String id = worker.path("worker_id").asText();
      if (!listed.contains(id)) {
        long requests = worker.path("active_requests").asLong();
        String state = state(worker.path("healthy").asBoolean(), worker);
        lines.add(new RankLine(id, state, 0, 0, 0, requests, -1, Double.NaN, Double.NaN));
      }
    }
    return lines;
  }

  private static RankLine line(JsonNode of, JsonNode rank, String state, Rates rates) {
    String id = of.path("worker_id").asText();
    String role = of.path("role").asText("both");
    String number = rank.path("dp_rank").asText();
    // Of a worker with one rank, also what its engine placed by itself.
    boolean single = of.path("ranks").size() == 1;
    List<String> place = single ? List.of(id) : List.of(id, number);
    boolean prefill = role.equals("prefill");
    JsonNode load = rank.path("load");
    long active = Math.max(0, load.path("active_blocks").asLong());
    return new RankLine(
        id + (single ? "" : " " + number) + (role.equals("both") ? "" : " " + role),
        state.equals("healthy") ? events(rank) : state,
        active,
        Math.max(0, rank.path("blocks").asLong() - active),
        of.path("kv_blocks").asLong(),
        load.path("active_requests").asLong(),
        load.path("active_prefill_tokens").asLong(-1),
        prefill && !single
            ? Double.NaN
            : rates.perSecond(prefill ? Metrics.LEGS : Metrics.SERVED, place),
        rates.hits(place));
  }

  private static String state(boolean healthy, JsonNode worker) {
    String state = worker.path("state").asText();
    if (state.equals("leaving")) {
      return "draining";
    }
    if (!healthy) {
      return "unhealthy";
    }
    if (state.equals("cordoned")) {
      return worker.path("active_requests").asLong() > 0 ? "draining" : "cordoned";
    }
    return worker.path("takes_requests").asBoolean(true) ? "healthy" : "resting";
  }

  /** The state of the event stream of a rank of a healthy worker; healthy if all is well. */
  private static String events(JsonNode rank) {
    String stream = rank.path("state").asText("live");
    if (rank.path("untrusted").asBoolean()) {
      return "untrusted";
    }
    return stream.equals("live") ? "healthy" : stream;
  }
}
