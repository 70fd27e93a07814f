package io.kvasir.cli.lines.index;

import static io.kvasir.cli.lines.index.LedgerClock.NOW_MS;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.cli.lines.Fields;
import io.kvasir.cli.lines.InvalidLineException;
import io.kvasir.cli.lines.LineLimit;
import io.kvasir.cli.lines.index.RequestLedger.InFlight;
import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.model.Errors;
import io.kvasir.model.RankId;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * Operations on the predicted load of the ranks of an index. The lines choose the ids of requests.
 * Not thread-safe.
 */
final class PredictOperations {

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

  private final int tokensPerBlock;
  private final Function<long[], Map<RankId, Integer>> matches;
  private final Function<int[], long[]> sequence;
  private final RequestLedger ledger;
  private final LineLimit limit;
  private final PredictedLoads loads = new PredictedLoads();

  /**
   * Makes the operations on a ledger.
   *
   * @param matches the number of leading blocks of a sequence that each rank holds
   * @param sequence the sequence hashes of tokens
   * @param limit bounds the work of a line
   */
  PredictOperations(
      int tokensPerBlock,
      Function<long[], Map<RankId, Integer>> matches,
      Function<int[], long[]> sequence,
      RequestLedger ledger,
      LineLimit limit) {
    this.tokensPerBlock = tokensPerBlock;
    this.matches = matches;
    this.sequence = sequence;
    this.ledger = ledger;
    this.limit = limit;
  }

  void carryOut(JsonNode line, JsonGenerator out) throws IOException {
    JsonNode action = line.get("action");
    Set<String> allowed = action == null ? null : FIELDS.get(action.asText());
    if (action == null || allowed == null) {
      throw new InvalidLineException(
          "action must be one of " + String.join(", ", ACTIONS) + ", not " + Errors.shown(action));
    }
    Fields fields = new Fields("", line, allowed);
    long nowMs = ledger.clock().read(fields);
    switch (action.asText()) {
      case "add" -> add(fields, nowMs, out);
      case "potential" -> potential(fields, nowMs, out);
      case "push" -> {
        push(fields, nowMs);
        ledger.ok(out);
      }
      case "prefillDone" -> {
        InFlight request = ledger.inFlight(fields);
        ledger.clock().set(nowMs);
        ledger.router().onPrefillDone(request.attempt());
        ledger.ok(out);
      }
      default -> {
        long id = fields.id("id");
        ledger.clock().set(nowMs);
        ledger.free(id);
        ledger.ok(out);
      }
    }
  }

  private void add(Fields fields, long nowMs, JsonGenerator out) throws IOException {
    long id = fields.id("id");
    RankId rank = IndexOperations.rank(fields);
    int[] tokens = tokens(fields);
    long[] hashes = sequence.apply(tokens);
    int cached = matches.apply(hashes).getOrDefault(rank, 0) * tokensPerBlock;
    int prefillTokens = fields.integer("prefillTokens", 0, tokens.length, tokens.length - cached);
    ledger.requireFree(id);
    ledger.clock().set(nowMs);
    ledger.addRank(rank);
    long attempt =
        ledger
            .router()
            .<Long>withLoads(
                all -> all.add(id, rank, hashes, hashes.length, tokens.length, prefillTokens));
    ledger.put(id, new InFlight(attempt, tokens, hashes.length));
    out.writeStartObject();
    out.writeNumberField("attempt", attempt);
    out.writeNumberField("prefillTokens", prefillTokens);
    ledger.end(out);
  }

  /** Adds output tokens. Hashes the blocks that they fill if the request's tokens are known. */
  private void push(Fields fields, long nowMs) {
    InFlight request = ledger.inFlight(fields);
    int[] more = tokens(fields);
    if (more.length == 0) {
      throw new InvalidLineException("tokens must have at least one entry");
    }
    if (request.tokens() == null) {
      ledger.clock().set(nowMs);
      ledger.router().onTokens(request.attempt(), more.length);
      return;
    }
    int before = request.tokens().length;
    limit.add("tokens", before);
    int[] tokens = Arrays.copyOf(request.tokens(), before + more.length);
    System.arraycopy(more, 0, tokens, before, more.length);
    int full = Math.max(request.hashedBlocks(), (tokens.length - 1) / tokensPerBlock);
    long[] hashes =
        Arrays.copyOfRange(
            sequence.apply(Arrays.copyOf(tokens, full * tokensPerBlock)),
            request.hashedBlocks(),
            full);
    ledger.clock().set(nowMs);
    ledger.put(fields.id("id"), new InFlight(request.attempt(), tokens, full));
    ledger.router().onTokens(request.attempt(), more.length, hashes, hashes.length);
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
    long[] hashes = sequence.apply(tokens);
    Map<RankId, Integer> held = matches.apply(hashes);
    ledger.clock().set(nowMs);
    ledger
        .router()
        .<Boolean>withLoads(
            all -> {
              all.potential(hashes, hashes.length, tokens.length, loads);
              return true;
            });
    out.writeStartObject();
    out.writeArrayFieldStart("ranks");
    for (int i = 0; i < loads.size(); i++) {
      int matched = held.getOrDefault(loads.rank(i), 0);
      long prefill = loads.activePrefillTokens(i);
      out.writeStartObject();
      IndexOperations.write(loads.rank(i), out);
      out.writeNumberField("matchedBlocks", matched);
      out.writeNumberField("activeRequests", loads.activeRequests(i));
      out.writeNumberField("activeBlocks", loads.activeBlocks(i));
      out.writeNumberField("newBlocks", loads.newBlocks(i));
      out.writeNumberField("potentialBlocks", loads.potentialBlocks(i));
      out.writeNumberField("activePrefillTokens", prefill);
      out.writeNumberField(
          "potentialPrefillTokens", prefill + tokens.length - (long) matched * tokensPerBlock);
      out.writeEndObject();
    }
    out.writeEndArray();
    ledger.end(out);
  }
}
