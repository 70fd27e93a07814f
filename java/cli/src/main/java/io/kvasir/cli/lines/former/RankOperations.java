package io.kvasir.cli.lines.former;

import static io.kvasir.cli.lines.fleet.LineClock.NOW_MS;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.cli.lines.Fields;
import io.kvasir.cli.lines.InvalidLineException;
import io.kvasir.cli.lines.LineLimit;
import io.kvasir.cli.lines.fleet.BlockEventReader;
import io.kvasir.cli.lines.fleet.FleetDialect;
import io.kvasir.cli.lines.fleet.OutcomeJson;
import io.kvasir.cli.lines.fleet.RequestReader;
import io.kvasir.cli.lines.fleet.RoutedRequests;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.index.RankMatches;
import io.kvasir.fleet.load.ActiveSequences;
import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.fleet.load.SequenceLoad;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.booking.BookingRouter;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import io.kvasir.model.Errors;
import io.kvasir.model.RankId;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The former operations on the ranks of an index, of policy {@code cost}. Not thread-safe. */
final class RankOperations implements FormerOperations {

  private static final Set<String> ADD_RANK =
      Set.of("op", "worker", "dpRank", "totalKvBlocks", "maxNumBatchedTokens", NOW_MS);
  private static final Set<String> SELECT =
      Set.of(
          "op",
          "id",
          "tokens",
          "sequenceHashes",
          "inputTokens",
          "allowedWorkers",
          "exclude",
          "pinnedWorker",
          "pinnedRank",
          "expectedOutputTokens",
          "strictPriority",
          "priorityJump",
          "overrides",
          NOW_MS);
  private static final List<String> FORMS = List.of("tokens", "sequenceHashes");
  private static final List<String> ACTIONS =
      List.of("add", "push", "prefillDone", "free", "potential");
  private static final Map<String, Set<String>> FIELDS =
      Map.of(
          "add",
          Set.of("op", "action", "id", "worker", "dpRank", "tokens", "prefillTokens", NOW_MS),
          "push",
          Set.of("op", "action", "id", "tokens", NOW_MS),
          "prefillDone",
          Set.of("op", "action", "id", NOW_MS),
          "free",
          Set.of("op", "action", "id", NOW_MS),
          "potential",
          Set.of("op", "action", "tokens", NOW_MS));

  private final BookingRouter router;
  private final PrefixIndex index;
  private final NativeBlockHasher hasher;
  private final RoutedRequests requests;
  private final RequestReader reader;
  private final LineLimit limit;
  private final RankMatches matches = new RankMatches();
  private final PredictedLoads loads = new PredictedLoads();

  RankOperations(
      BookingRouter router,
      PrefixIndex index,
      NativeBlockHasher hasher,
      RoutedRequests requests,
      LineLimit limit) {
    this.router = router;
    this.index = index;
    this.hasher = hasher;
    this.requests = requests;
    this.reader = new RequestReader(hasher, limit);
    this.limit = limit;
  }

  @Override
  public void carryOut(String op, JsonNode line, JsonGenerator out) throws IOException {
    switch (op) {
      case "predict" -> predict(line, out);
      case "add_rank" -> FleetDialect.addRank(new Fields("", line, ADD_RANK), requests, out);
      case "select" -> select(line, out);
      default -> poll(line, out);
    }
  }

  private void select(JsonNode line, JsonGenerator out) throws IOException {
    Fields fields = new Fields("", line, SELECT);
    FleetRequest request = reader.builder(fields, FORMS).build();
    requests.clock().set(requests.clock().read(fields));
    requests.answer(requests.route(request), out);
  }

  /** Ends attempts that have been silent for too long, and writes the outcomes so far. */
  private void poll(JsonNode line, JsonGenerator out) throws IOException {
    Fields fields = new Fields("", line, Set.of("op", NOW_MS));
    requests.clock().set(requests.clock().read(fields));
    if (router.expireStale() > 0) {
      requests.forget(id -> attemptOf(id) == ActiveSequences.NONE);
    }
    out.writeStartObject();
    requests.writeSettled(out);
    out.writeEndObject();
  }

  private long attemptOf(long id) {
    return router.<Long>withLoads(all -> all.attemptOf(id));
  }

  /** The attempt of the request in flight that a line names. */
  private long inFlight(Fields fields) {
    long id = fields.id("id");
    long attempt = requests.attempt(id);
    if (attemptOf(id) != attempt) {
      throw RoutedRequests.notInFlight(id);
    }
    return attempt;
  }

  private void predict(JsonNode line, JsonGenerator out) throws IOException {
    JsonNode action = line.get("action");
    Set<String> allowed = action == null ? null : FIELDS.get(action.asText());
    if (action == null || allowed == null) {
      throw new InvalidLineException(
          "action must be one of " + String.join(", ", ACTIONS) + ", not " + Errors.shown(action));
    }
    Fields fields = new Fields("", line, allowed);
    long nowMs = requests.clock().read(fields);
    switch (action.asText()) {
      case "add" -> add(fields, nowMs, out);
      case "potential" -> potential(fields, nowMs, out);
      case "push" -> {
        inFlight(fields);
        requests.onTokens(fields.id("id"), tokens(fields), nowMs, limit);
        requests.ok(out);
      }
      case "prefillDone" -> {
        long attempt = inFlight(fields);
        requests.clock().set(nowMs);
        router.onPrefillDone(attempt);
        requests.ok(out);
      }
      default -> {
        long id = fields.id("id");
        requests.clock().set(nowMs);
        requests.finish(id, true);
        requests.ok(out);
      }
    }
  }

  private void add(Fields fields, long nowMs, JsonGenerator out) throws IOException {
    long id = fields.id("id");
    RankId rank = BlockEventReader.rank(fields);
    int[] tokens = tokens(fields);
    long[] hashes = match(tokens);
    int cached = matches.blocks(rank) * hasher.tokensPerBlock();
    int prefillTokens = fields.integer("prefillTokens", 0, tokens.length, tokens.length - cached);
    if (requests.isWaiting(id) || attemptOf(id) != ActiveSequences.NONE) {
      throw new InvalidLineException("id " + id + " is in flight");
    }
    requests.clock().set(nowMs);
    requests.addRank(rank);
    SequenceLoad load = new SequenceLoad(hashes, hashes.length, tokens.length, prefillTokens);
    long attempt = router.<Long>withLoads(all -> all.add(id, rank, load));
    requests.booked(id, attempt, rank, tokens);
    out.writeStartObject();
    out.writeNumberField("attempt", attempt);
    out.writeNumberField("prefillTokens", prefillTokens);
    requests.end(out);
  }

  /** Returns the hashes of a prompt, and fills in what each rank holds of it. */
  private long[] match(int[] tokens) {
    long[] hashes = hasher.hash(tokens, CacheScope.NONE).sequence();
    index.match(hashes, hashes.length, matches);
    return hashes;
  }

  private static int[] tokens(Fields fields) {
    int[] tokens = fields.integers("tokens");
    if (tokens == null) {
      throw new InvalidLineException(fields.at("tokens") + " is missing");
    }
    return tokens;
  }

  private void potential(Fields fields, long nowMs, JsonGenerator out) throws IOException {
    int[] tokens = tokens(fields);
    long[] hashes = match(tokens);
    requests.clock().set(nowMs);
    router.<Boolean>withLoads(
        all -> {
          all.potential(hashes, hashes.length, tokens.length, loads);
          return true;
        });
    out.writeStartObject();
    out.writeArrayFieldStart("ranks");
    for (int i = 0; i < loads.size(); i++) {
      int matched = matches.blocks(loads.rank(i));
      long prefill = loads.activePrefillTokens(i);
      out.writeStartObject();
      OutcomeJson.writeRank(loads.rank(i), out);
      out.writeNumberField("matchedBlocks", matched);
      out.writeNumberField("activeRequests", loads.activeRequests(i));
      out.writeNumberField("activeBlocks", loads.activeBlocks(i));
      out.writeNumberField("newBlocks", loads.newBlocks(i));
      out.writeNumberField("potentialBlocks", loads.potentialBlocks(i));
      out.writeNumberField("activePrefillTokens", prefill);
      out.writeNumberField(
          "potentialPrefillTokens",
          prefill + tokens.length - (long) matched * hasher.tokensPerBlock());
      out.writeEndObject();
    }
    out.writeEndArray();
    requests.end(out);
  }

  @Override
  public void close() {}
}
