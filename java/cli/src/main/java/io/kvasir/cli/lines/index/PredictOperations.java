package io.kvasir.cli.lines.index;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.cli.lines.Fields;
import io.kvasir.cli.lines.InvalidLineException;
import io.kvasir.fleet.load.ActiveSequences;
import io.kvasir.fleet.load.ActiveSequencesOptions;
import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.model.RankId;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * The predicted load of the ranks of an index, told and asked by JSON objects. Requests go by the
 * ids that the lines give them. Not thread-safe.
 */
final class PredictOperations {

  private static final List<String> ACTIONS =
      List.of("add", "push", "prefillDone", "free", "potential");
  private static final Map<String, Set<String>> FIELDS =
      Map.of(
          "add", Set.of("op", "action", "id", "worker", "dpRank", "tokens", "prefillTokens"),
          "push", Set.of("op", "action", "id", "tokens"),
          "prefillDone", Set.of("op", "action", "id"),
          "free", Set.of("op", "action", "id"),
          "potential", Set.of("op", "action", "tokens"));

  /** A request in flight: its tokens so far, and how many blocks have been named. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record InFlight(long attempt, int[] tokens, int namedBlocks) {}

  private final int tokensPerBlock;
  private final Function<long[], Map<RankId, Integer>> held;
  private final Function<int[], long[]> sequence;
  private final ActiveSequences sequences;
  private final PredictedLoads loads = new PredictedLoads();
  private final Set<RankId> ranks = new TreeSet<>();
  private final Map<Long, InFlight> inFlight = new HashMap<>();

  /**
   * Without ranks.
   *
   * @param held by rank, the leading blocks that it holds of a sequence
   * @param sequence the sequence hashes of tokens
   */
  PredictOperations(
      Fields configure,
      int tokensPerBlock,
      Function<long[], Map<RankId, Integer>> held,
      Function<int[], long[]> sequence) {
    this.tokensPerBlock = tokensPerBlock;
    this.held = held;
    this.sequence = sequence;
    ActiveSequencesOptions options = ActiveSequencesOptions.DEFAULT;
    options =
        options
            .withKvReuse(configure.flag("assumeKvReuse", options.assumeKvReuse()))
            .withOutputBlocks(configure.flag("trackOutputBlocks", options.trackOutputBlocks()))
            .withPrefillTokens(configure.flag("trackPrefillTokens", options.trackPrefillTokens()));
    this.sequences = new ActiveSequences(tokensPerBlock, options, System::nanoTime);
  }

  void addRank(RankId rank) {
    if (sequences.addRank(rank)) {
      ranks.add(rank);
    }
  }

  void removeWorker(long worker) {
    ranks.removeIf(rank -> rank.workerId() == worker && sequences.removeRank(rank) >= 0);
    inFlight.keySet().removeIf(id -> sequences.attemptOf(id) == ActiveSequences.NONE);
  }

  void carryOut(JsonNode line, JsonGenerator out) throws IOException {
    JsonNode action = line.get("action");
    if (action == null || !ACTIONS.contains(action.asText())) {
      throw new InvalidLineException(
          "action must be one of " + String.join(", ", ACTIONS) + ", not " + action);
    }
    Fields fields = new Fields("", line, FIELDS.get(action.asText()));
    switch (action.asText()) {
      case "add" -> add(fields, out);
      case "potential" -> potential(fields, out);
      case "push" -> {
        push(fields);
        done(out);
      }
      case "prefillDone" -> {
        sequences.prefillDone(request(fields).attempt());
        done(out);
      }
      default -> {
        InFlight ended = inFlight.remove(fields.id("id"));
        sequences.free(ended == null ? ActiveSequences.NONE : ended.attempt());
        done(out);
      }
    }
  }

  private static void done(JsonGenerator out) throws IOException {
    out.writeStartObject();
    out.writeBooleanField("ok", true);
    out.writeEndObject();
  }

  private void add(Fields fields, JsonGenerator out) throws IOException {
    long id = fields.id("id");
    RankId rank = IndexOperations.rank(fields);
    int[] tokens = tokens(fields);
    long[] hashes = sequence.apply(tokens);
    int cached = held.apply(hashes).getOrDefault(rank, 0) * tokensPerBlock;
    int prefillTokens = fields.integer("prefillTokens", 0, tokens.length, tokens.length - cached);
    if (sequences.attemptOf(id) != ActiveSequences.NONE) {
      throw new InvalidLineException("id " + id + " is in flight");
    }
    addRank(rank);
    long attempt = sequences.add(id, rank, hashes, hashes.length, tokens.length, prefillTokens);
    inFlight.put(id, new InFlight(attempt, tokens, hashes.length));
    out.writeStartObject();
    out.writeNumberField("attempt", attempt);
    out.writeNumberField("prefillTokens", prefillTokens);
    out.writeEndObject();
  }

  /** Output tokens: the blocks that they fill get their names. */
  private void push(Fields fields) {
    InFlight request = request(fields);
    int[] more = tokens(fields);
    int before = request.tokens().length;
    int[] tokens = Arrays.copyOf(request.tokens(), before + more.length);
    System.arraycopy(more, 0, tokens, before, more.length);
    int full = Math.max(request.namedBlocks(), (tokens.length - 1) / tokensPerBlock);
    long[] hashes =
        Arrays.copyOfRange(
            sequence.apply(Arrays.copyOf(tokens, full * tokensPerBlock)),
            request.namedBlocks(),
            full);
    sequences.push(request.attempt(), more.length, hashes, hashes.length);
    inFlight.put(fields.id("id"), new InFlight(request.attempt(), tokens, full));
  }

  private InFlight request(Fields fields) {
    long id = fields.id("id");
    InFlight request = inFlight.get(id);
    if (request == null || sequences.attemptOf(id) != request.attempt()) {
      throw new InvalidLineException("id " + id + " is not in flight");
    }
    return request;
  }

  private static int[] tokens(Fields fields) {
    int[] tokens = fields.integers("tokens");
    if (tokens == null) {
      throw new InvalidLineException(fields.at("tokens") + " is missing");
    }
    return tokens;
  }

  private void potential(Fields fields, JsonGenerator out) throws IOException {
    int[] tokens = tokens(fields);
    long[] hashes = sequence.apply(tokens);
    Map<RankId, Integer> matches = held.apply(hashes);
    sequences.potential(hashes, hashes.length, tokens.length, loads);
    out.writeStartObject();
    out.writeArrayFieldStart("ranks");
    for (int i = 0; i < loads.size(); i++) {
      int matched = matches.getOrDefault(loads.rank(i), 0);
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
    out.writeEndObject();
  }
}
