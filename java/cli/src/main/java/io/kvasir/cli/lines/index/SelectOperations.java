package io.kvasir.cli.lines.index;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.cli.lines.Fields;
import io.kvasir.cli.lines.InvalidLineException;
import io.kvasir.fleet.router.CostOverrides;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import io.kvasir.model.RankId;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Operations that choose ranks for requests. Not thread-safe. */
final class SelectOperations {

  private static final Set<String> ADD_RANK =
      Set.of("op", "worker", "dpRank", "totalKvBlocks", "maxNumBatchedTokens", LedgerClock.NOW_MS);
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
          LedgerClock.NOW_MS);
  private static final Set<String> EXCLUDE = Set.of("worker", "dpRank");
  private static final Set<String> OVERRIDES =
      Set.of(
          "overlapScoreCredit",
          "prefillLoadScale",
          "temperature",
          "assumeKvReuse",
          "trackPrefillTokens");

  private final NativeBlockHasher hasher;
  private final RequestLedger ledger;

  SelectOperations(NativeBlockHasher hasher, RequestLedger ledger) {
    this.hasher = hasher;
    this.ledger = ledger;
  }

  void addRank(JsonNode line, JsonGenerator out) throws IOException {
    Fields fields = new Fields("", line, ADD_RANK);
    RankId rank = IndexOperations.rank(fields);
    RankCapacity capacity =
        new RankCapacity(
            fields.longInteger("totalKvBlocks", 0, Long.MAX_VALUE, 0),
            fields.longInteger("maxNumBatchedTokens", 0, Long.MAX_VALUE, 0));
    ledger.clock().set(ledger.clock().read(fields));
    ledger.addRank(rank, capacity);
    ledger.ok(out);
  }

  /** Ends attempts that have been silent for too long, and writes the outcomes so far. */
  void poll(JsonNode line, JsonGenerator out) throws IOException {
    Fields fields = new Fields("", line, Set.of("op", LedgerClock.NOW_MS));
    ledger.clock().set(ledger.clock().read(fields));
    ledger.expireStale();
    out.writeStartObject();
    ledger.writeSettled(out);
    out.writeEndObject();
  }

  void select(JsonNode line, JsonGenerator out) throws IOException {
    Fields fields = new Fields("", line, SELECT);
    int[] tokens = fields.integers("tokens");
    if ((tokens == null) == (fields.node("sequenceHashes") == null)) {
      throw new InvalidLineException("one of tokens and sequenceHashes must be given");
    }
    if (tokens != null && fields.has("inputTokens")) {
      throw new InvalidLineException("inputTokens must come with sequenceHashes, not with tokens");
    }
    BlockHashes hashes =
        tokens != null
            ? hasher.hash(tokens, CacheScope.NONE)
            : withoutTokens(fields.words("sequenceHashes"));
    long filled = (long) hashes.blocks() * hasher.tokensPerBlock();
    if (filled > Integer.MAX_VALUE) {
      throw new InvalidLineException("sequenceHashes must cover at most 2^31 - 1 tokens");
    }
    int inputTokens =
        tokens != null
            ? tokens.length
            : fields.integer("inputTokens", (int) filled, Integer.MAX_VALUE);
    CostOverrides overrides = overrides(fields);
    FleetRequest request =
        FleetRequest.builder(fields.id("id"), Prompt.of(tokens == null ? new int[0] : tokens))
            .hashes(hasher.format(), hasher.tokensPerBlock(), hashes)
            .inputTokens(inputTokens)
            .filter(filter(fields))
            .expectedOutputTokens(fields.integer("expectedOutputTokens", 0, Integer.MAX_VALUE, 0))
            .strictPriority(
                fields.integer("strictPriority", Integer.MIN_VALUE, Integer.MAX_VALUE, 0))
            .priorityJump(fields.number("priorityJump", 0))
            .overrides(overrides)
            .build();
    ledger.clock().set(ledger.clock().read(fields));
    boolean hashOutput = !Boolean.FALSE.equals(overrides.assumeKvReuse());
    RouteOutcome outcome = ledger.route(request, hashOutput ? tokens : null, hashes.blocks());
    out.writeStartObject();
    RequestLedger.writeOutcome(outcome, out);
    ledger.end(out);
  }

  /** Hashes of blocks whose tokens are unknown. The router reads only the sequence hashes. */
  private static BlockHashes withoutTokens(long[] sequenceHashes) {
    return new BlockHashes(new long[sequenceHashes.length], sequenceHashes);
  }

  private static RankFilter filter(Fields fields) {
    Set<RankId> excluded = new HashSet<>();
    JsonNode exclude = fields.array("exclude");
    for (int i = 0; i < exclude.size(); i++) {
      Fields each = new Fields("exclude[" + i + "]", exclude.get(i), EXCLUDE);
      excluded.add(
          new RankId(
              each.word("worker"), each.integer("dpRank", 0, Integer.MAX_VALUE, RankId.ANY)));
    }
    RankFilter allowed =
        fields.node("allowedWorkers") == null
            ? RankFilter.ANY
            : RankFilter.allow(fields.words("allowedWorkers"));
    Long pinnedWorker = fields.node("pinnedWorker") == null ? null : fields.word("pinnedWorker");
    Integer pinnedRank =
        fields.node("pinnedRank") == null
            ? null
            : fields.integer("pinnedRank", 0, Integer.MAX_VALUE);
    return new RankFilter(allowed.allowedWorkers(), excluded, pinnedWorker, pinnedRank);
  }

  private static CostOverrides overrides(Fields fields) {
    if (fields.node("overrides") == null) {
      return CostOverrides.NONE;
    }
    Fields given = new Fields("overrides", fields.node("overrides"), OVERRIDES);
    return new CostOverrides(
        number(given, "overlapScoreCredit"),
        number(given, "prefillLoadScale"),
        number(given, "temperature"),
        given.flag("assumeKvReuse"),
        given.flag("trackPrefillTokens"));
  }

  private static @Nullable Double number(Fields fields, String name) {
    return fields.node(name) == null ? null : fields.number(name, 0);
  }
}
