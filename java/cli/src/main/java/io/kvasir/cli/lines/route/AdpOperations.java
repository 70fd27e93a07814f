package io.kvasir.cli.lines.route;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.cli.lines.Fields;
import io.kvasir.cli.lines.InvalidLineException;
import io.kvasir.cli.lines.LineLimit;
import io.kvasir.engine.adp.AdpRouter;
import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.adp.Assignment;
import io.kvasir.engine.adp.AttentionDpConfig;
import io.kvasir.engine.adp.BlockDemand;
import io.kvasir.engine.adp.Decision;
import io.kvasir.engine.adp.RankState;
import io.kvasir.engine.adp.RankWork;
import io.kvasir.engine.adp.ScoreTerms;
import io.kvasir.engine.pool.Occupancy;
import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.model.Errors;
import io.kvasir.model.Request;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Operations on an ADP router. Not thread-safe. */
final class AdpOperations {

  static final Set<String> CONFIGURE =
      Set.of(
          "op",
          "router",
          "ranks",
          "maxActiveRequests",
          "tokensPerBlock",
          "attention_dp_config",
          "capacityPolicy");

  private static final Set<String> ROUTE = Set.of("op", "states", "requests", "matches");
  private static final Set<String> STATE =
      Set.of(
          "rank",
          "activeRequests",
          "activeTokens",
          "retiringRequests",
          "inTransferRequests",
          "queuedBlocks",
          "freeBlocks",
          "cachedBlocks",
          "activeBlocks",
          "reservedBlocks",
          "oldestEvictableTick",
          "tick",
          "prefillRequests",
          "prefillTokens",
          "attendedPairs",
          "decodingRequests",
          "decodeKvTokens");
  private static final List<String> WORK =
      List.of(
          "prefillRequests",
          "prefillTokens",
          "attendedPairs",
          "decodingRequests",
          "decodeKvTokens");
  private static final Set<String> REQUEST =
      Set.of(
          "id",
          "inputTokens",
          "inputLength",
          "maxNewTokens",
          "targetRank",
          "relax",
          "conversationId",
          "subagentAffinityId",
          "firstTurn",
          "children",
          "priority");

  private static final int MAX_RANKS = 4096;

  /** What a request counts for each rank: its match, its score and their texts. */
  private static final long TOKENS_PER_SCORE = 16;

  private final AdpRouter router;
  private final int ranks;
  private final int maxActiveRequests;
  private final LineLimit limit;

  AdpOperations(Fields configure, LineLimit limit) {
    this.limit = limit;
    this.ranks = configure.integer("ranks", 1, MAX_RANKS);
    this.maxActiveRequests = configure.integer("maxActiveRequests", 1, Integer.MAX_VALUE, 256);
    int tokensPerBlock = configure.integer("tokensPerBlock", 1, 1 << 16, 32);
    boolean reserves =
        !configure.has("capacityPolicy")
            || configure
                .choice("capacityPolicy", List.of("guaranteed_no_evict", "max_utilization"))
                .equals("guaranteed_no_evict");
    this.router =
        AdpRouterKind.named(configure.requiredText("router"))
            .create(
                ranks,
                AttentionDpConfig.of(configure.map("attention_dp_config")),
                new BlockDemand(tokensPerBlock, reserves),
                true);
  }

  void route(JsonNode line, JsonGenerator out) throws IOException {
    Fields fields = new Fields("", line, ROUTE);
    List<RankState> states = states(fields.array("states"));
    JsonNode array = fields.array("requests");
    limit.add("requests", TOKENS_PER_SCORE * ranks * array.size());
    List<Request> requests = new ArrayList<>(array.size());
    for (int i = 0; i < array.size(); i++) {
      requests.add(request("requests[" + i + "]", array.get(i), limit));
    }
    PrefixMatches matches = matches(fields.array("matches"), requests);
    write(router.route(states, requests, matches, maxActiveRequests), out);
  }

  private List<RankState> states(JsonNode array) {
    if (array.size() != 0 && array.size() != ranks) {
      throw new InvalidLineException(
          "states must have one entry for each of " + ranks + " ranks, not " + array.size());
    }
    List<RankState> states = new ArrayList<>(ranks);
    for (int rank = 0; rank < ranks; rank++) {
      states.add(
          array.size() == 0
              ? new RankState(rank, 0, 0)
              : state(rank, new Fields("states[" + rank + "]", array.get(rank), STATE)));
    }
    return states;
  }

  private static RankState state(int rank, Fields fields) {
    int most = Integer.MAX_VALUE;
    int given = fields.integer("rank", 0, most, rank);
    if (given != rank) {
      throw new InvalidLineException(
          fields.at("rank") + " must be " + rank + ", its index in the array, not " + given);
    }
    return new RankState(
        rank,
        fields.integer("activeRequests", 0, most, 0),
        count(fields, "activeTokens"),
        fields.integer("retiringRequests", 0, most, 0),
        fields.integer("inTransferRequests", 0, most, 0),
        count(fields, "queuedBlocks"),
        occupancy(fields),
        null,
        work(fields));
  }

  /** The work of a rank; null if no field of it is given. */
  private static @Nullable RankWork work(Fields fields) {
    if (WORK.stream().noneMatch(fields::has)) {
      return null;
    }
    long tokens = count(fields, "prefillTokens");
    long decodeKvTokens = count(fields, "decodeKvTokens");
    double pairs = fields.number("attendedPairs", RankWork.attendedPairs(0, tokens));
    if (!(pairs >= 0) || Double.isInfinite(pairs)) {
      throw new InvalidLineException(
          fields.at("attendedPairs") + " must be finite and at least 0, not " + pairs);
    }
    int most = Integer.MAX_VALUE;
    return new RankWork(
        fields.integer("prefillRequests", 0, most, tokens > 0 ? 1 : 0),
        tokens,
        pairs,
        fields.integer("decodingRequests", 0, most, decodeKvTokens > 0 ? 1 : 0),
        decodeKvTokens);
  }

  /** The occupancy of a rank's pool; null if neither free nor cached blocks are given. */
  private static @Nullable Occupancy occupancy(Fields fields) {
    if (!fields.has("freeBlocks") && !fields.has("cachedBlocks")) {
      return null;
    }
    long free = count(fields, "freeBlocks");
    long cached = count(fields, "cachedBlocks");
    long active = count(fields, "activeBlocks");
    long reserved = count(fields, "reservedBlocks");
    long oldest = count(fields, "oldestEvictableTick");
    long tick = fields.longInteger("tick", oldest, Long.MAX_VALUE / 8, oldest);
    return new Occupancy(free + cached + active, free, cached, active, reserved, 0, oldest, tick);
  }

  private static long count(Fields fields, String name) {
    return fields.longInteger(name, 0, Long.MAX_VALUE / 8, 0);
  }

  /** A request of a batch or of a queue. Without tokens, it is empty. */
  static Request request(String path, JsonNode node, LineLimit limit) {
    Fields fields = new Fields(path, node, REQUEST);
    int[] tokens = fields.integers("inputTokens");
    if (tokens == null) {
      int length = fields.integer("inputLength", 0, Integer.MAX_VALUE, 0);
      limit.add(fields.at("inputLength"), length);
      tokens = new int[length];
    } else if (fields.has("inputLength")) {
      throw new InvalidLineException(
          fields.at("inputLength") + " and inputTokens exclude each other");
    }
    Request.Builder request =
        Request.builder(fields.id("id"), tokens)
            .maxNewTokens(fields.integer("maxNewTokens", 1, Integer.MAX_VALUE, 1))
            .relax(fields.flag("relax"))
            .conversationId(fields.text("conversationId"))
            .subagentAffinityId(fields.text("subagentAffinityId"))
            .firstTurn(fields.flag("firstTurn", false))
            .children(fields.integer("children", 0, Integer.MAX_VALUE, 0))
            .targetRank(fields.integer("targetRank", 0, Integer.MAX_VALUE, Request.ANY_RANK));
    if (fields.has("priority")) {
      request.priority(fields.number("priority", 0));
    }
    return request.build();
  }

  private PrefixMatches matches(JsonNode array, List<Request> requests) {
    PrefixMatches matches = new PrefixMatches(ranks, requests.size());
    for (int rank = 0; rank < array.size(); rank++) {
      JsonNode held = array.get(rank);
      if (rank >= ranks || !held.isObject()) {
        throw new InvalidLineException(
            "matches must have an object for each of at most " + ranks + " ranks");
      }
      for (Iterator<String> ids = held.fieldNames(); ids.hasNext(); ) {
        String id = ids.next();
        JsonNode tokens = held.get(id);
        if (!tokens.isIntegralNumber() || !tokens.canConvertToInt() || tokens.intValue() < 0) {
          throw new InvalidLineException(
              "matches["
                  + rank
                  + "]."
                  + Errors.shown(id)
                  + " must be an integer of at least 0, not "
                  + Errors.shown(tokens));
        }
      }
      for (int i = 0; i < requests.size() && !held.isEmpty(); i++) {
        JsonNode tokens = held.get(Long.toString(requests.get(i).id()));
        if (tokens != null) {
          matches.set(rank, i, tokens.intValue());
        }
      }
    }
    return matches;
  }

  private void write(Assignment assignment, JsonGenerator out) throws IOException {
    out.writeStartObject();
    out.writeObjectFieldStart("assigned");
    for (int rank = 0; rank < ranks; rank++) {
      int own = rank;
      Stream<Decision> decisions =
          assignment.decisions().stream().filter(decision -> decision.rank() == own);
      writeIds(Integer.toString(rank), decisions.map(Decision::request), out);
    }
    out.writeEndObject();
    out.writeNumberField("expectedActiveRequests", assignment.expectedActiveRequests());
    writeIds("unassigned", assignment.unassigned().stream(), out);
    long[] tokens = assignment.activeTokensAfter();
    out.writeFieldName("activeTokensAfter");
    out.writeArray(tokens, 0, tokens.length);
    out.writeArrayFieldStart("decisions");
    for (Decision decision : assignment.decisions()) {
      write(decision, out);
    }
    out.writeEndArray();
    out.writeEndObject();
  }

  /** Writes an array of the ids of requests. */
  static void writeIds(String name, Stream<Request> requests, JsonGenerator out)
      throws IOException {
    long[] ids = requests.mapToLong(Request::id).toArray();
    out.writeFieldName(name);
    out.writeArray(ids, 0, ids.length);
  }

  private static void write(Decision decision, JsonGenerator out) throws IOException {
    out.writeStartObject();
    out.writeNumberField("id", decision.request().id());
    out.writeNumberField("rank", decision.rank());
    out.writeStringField("reason", decision.reason().name().toLowerCase(Locale.ROOT));
    out.writeNumberField("matchedTokens", decision.matchedTokens());
    out.writeBooleanField("affinityActive", decision.affinityActive());
    out.writeNumberField("maxMatch", decision.maxMatch());
    out.writeObjectFieldStart("scores");
    for (int i = 0; i < decision.scoredRanks().length; i++) {
      out.writeNumberField(Integer.toString(decision.scoredRanks()[i]), decision.scores()[i]);
    }
    out.writeEndObject();
    writeTerms(decision, out);
    out.writeEndObject();
  }

  /** Writes the terms whose sum is the score of each rank. */
  private static void writeTerms(Decision decision, JsonGenerator out) throws IOException {
    ScoreTerms terms = decision.terms();
    if (terms.names().isEmpty()) {
      return;
    }
    out.writeObjectFieldStart("terms");
    for (int i = 0; i < decision.scoredRanks().length; i++) {
      out.writeObjectFieldStart(Integer.toString(decision.scoredRanks()[i]));
      for (int term = 0; term < terms.names().size(); term++) {
        out.writeNumberField(terms.names().get(term), terms.value(i, term));
      }
      out.writeEndObject();
    }
    out.writeEndObject();
  }
}
