package io.kvasir.cli.lines.index;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.cli.lines.Fields;
import io.kvasir.cli.lines.InvalidLineException;
import io.kvasir.cli.lines.LineLimit;
import io.kvasir.cli.lines.fleet.BlockEventReader;
import io.kvasir.cli.lines.fleet.LineClock;
import io.kvasir.cli.lines.fleet.OutcomeJson;
import io.kvasir.cli.lines.fleet.RoutedRequests;
import io.kvasir.cli.lines.former.FormerOperations;
import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.index.ApproximateIndex;
import io.kvasir.fleet.index.ApproximateOptions;
import io.kvasir.fleet.index.EventStreams;
import io.kvasir.fleet.index.FirstNumber;
import io.kvasir.fleet.index.IndexStats;
import io.kvasir.fleet.index.NativePrefixIndex;
import io.kvasir.fleet.index.PredictingIndex;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.index.RankMatches;
import io.kvasir.fleet.index.RecoverySource;
import io.kvasir.fleet.index.StreamLimits;
import io.kvasir.fleet.index.StreamStats;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.booking.BookingRouter;
import io.kvasir.fleet.router.cost.CostSelector;
import io.kvasir.fleet.router.cost.CostSettings;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import io.kvasir.model.RankId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Operations on a prefix index that follows block events. Not thread-safe. */
final class IndexOperations implements AutoCloseable {

  private static final Set<String> CONFIGURE =
      Set.of(
          "op",
          "tokensPerBlock",
          "hash",
          "maxBytes",
          "assumeKvReuse",
          "trackOutputBlocks",
          "trackPrefillTokens",
          "args",
          "explain");
  private static final Set<String> EVENT = Set.of("op", "worker", "dpRank", "eventId", "data");
  private static final Set<String> MATCH = Set.of("op", "tokens", "sequenceHashes");

  private static final long MAX_BYTES = 8L << 30;

  private final NativeBlockHasher hasher;
  private final PrefixIndex index;
  private final EventStreams streams;
  private final BlockEventReader changes;
  private final RoutedRequests requests;
  private final FormerOperations former;
  private final RankMatches matches = new RankMatches();

  private IndexOperations(Fields configure, LineLimit limit) {
    int tokensPerBlock = configure.integer("tokensPerBlock", 1, 1 << 16);
    HashFormat format =
        HashFormat.parse(
            configure.has("hash") ? configure.requiredText("hash") : HashFormat.KVASIR.id());
    if (format == HashFormat.TRTLLM_V1) {
      throw new IllegalArgumentException(
          "format must be kvasir or dynamo: trtllm-v1 does not chain local hashes");
    }
    CostSettings settings = settings(configure);
    LineClock clock = new LineClock();
    hasher = NativeBlockHasher.of(format, tokensPerBlock);
    index = new NativePrefixIndex(format, tokensPerBlock, settings.booking().maxIndexBytes());
    PrefixIndex predicting = index;
    if (settings.booking().ttlMs() > 0) {
      ApproximateOptions predicted =
          ApproximateOptions.PREDICTED.withTtlMs(settings.booking().ttlMs());
      predicting =
          new PredictingIndex(
              index,
              new ApproximateIndex(
                  new NativePrefixIndex(format, tokensPerBlock, settings.booking().maxIndexBytes()),
                  predicted,
                  clock));
    }
    streams =
        new EventStreams(
            predicting, RecoverySource.NONE, StreamLimits.DEFAULT, FirstNumber.RECEIVED);
    changes = new BlockEventReader(hasher, false);
    BookingRouter router =
        new BookingRouter(
            "cost",
            predicting,
            new CostSelector(settings.weights(), settings.ties()),
            settings.booking().options(),
            new FleetRouterSetup(format, tokensPerBlock, clock, Map.of()));
    requests = new RoutedRequests(router, hasher, clock);
    former = FormerOperations.onRanks(router, index, hasher, requests, limit);
  }

  /** The settings of policy {@code cost}. Some args can be fields of {@code configure} instead. */
  private static CostSettings settings(Fields configure) {
    Map<String, Object> args = new TreeMap<>(configure.map("args"));
    long maxBytes = configure.longInteger("maxBytes", 1 << 20, Long.MAX_VALUE, MAX_BYTES);
    set(args, "max_index_bytes", configure, "maxBytes", maxBytes);
    flag(args, "router_assume_kv_reuse", configure, "assumeKvReuse", true);
    flag(args, "router_track_output_blocks", configure, "trackOutputBlocks", false);
    flag(args, "router_track_prefill_tokens", configure, "trackPrefillTokens", true);
    flag(args, "explain", configure, "explain", false);
    return CostSettings.cost("args", args);
  }

  private static void flag(
      Map<String, Object> args, String key, Fields configure, String field, boolean absent) {
    set(args, key, configure, field, configure.flag(field, absent));
  }

  private static void set(
      Map<String, Object> args, String key, Fields configure, String field, Object value) {
    if (args.get(key) == null) {
      args.put(key, value);
    } else if (configure.node(field) != null) {
      throw new InvalidLineException(field + " and args." + key + " are one setting; set one");
    }
  }

  static IndexOperations configured(JsonNode line, LineLimit limit) {
    return new IndexOperations(new Fields("", line, CONFIGURE), limit);
  }

  void event(JsonNode line, JsonGenerator out) throws IOException {
    Fields fields = new Fields("", line, EVENT);
    RankId rank = BlockEventReader.rank(fields);
    long eventId = fields.word("eventId");
    streams.onEvent(rank, eventId, changes.change("data", fields.node("data")));
    requests.addRank(rank);
    requests.ok(out);
  }

  /** All blocks that a rank holds after an event, by default after the last event received. */
  void snapshot(JsonNode line, JsonGenerator out) throws IOException {
    Fields fields = new Fields("", line, EVENT);
    RankId rank = BlockEventReader.rank(fields);
    List<BlockEvent.Stored> contents = new ArrayList<>();
    JsonNode data = fields.requiredArray("data");
    for (int i = 0; i < data.size(); i++) {
      if (!(changes.change("data[" + i + "]", data.get(i)) instanceof BlockEvent.Stored stored)) {
        throw new InvalidLineException("data[" + i + "] must be stored");
      }
      contents.add(stored);
    }
    if (!fields.has("eventId")) {
      streams.onSnapshot(rank, contents);
    } else if (!streams.onSnapshot(rank, fields.word("eventId"), contents)) {
      throw new InvalidLineException("eventId must not be before the last applied event");
    }
    requests.addRank(rank);
    requests.ok(out);
  }

  void removeWorker(JsonNode line, JsonGenerator out) throws IOException {
    long worker = new Fields("", line, Set.of("op", "worker")).word("worker");
    streams.removeWorker(worker);
    requests.removeWorker(worker);
    requests.ok(out);
  }

  private long[] sequence(int[] tokens) {
    return hasher.hash(tokens, CacheScope.NONE).sequence();
  }

  /** The number of leading blocks of a sequence that each rank holds. */
  private Map<RankId, Integer> held(long[] sequence) {
    index.match(sequence, sequence.length, matches);
    Map<RankId, Integer> held = new TreeMap<>();
    for (int i = 0; i < matches.size(); i++) {
      held.put(matches.rank(i), matches.blocks(i));
    }
    return held;
  }

  void match(JsonNode line, JsonGenerator out) throws IOException {
    Fields fields = new Fields("", line, MATCH);
    int[] tokens = fields.integers("tokens");
    if ((tokens == null) == (fields.node("sequenceHashes") == null)) {
      throw new InvalidLineException("one of tokens and sequenceHashes must be given");
    }
    long[] sequence = tokens != null ? sequence(tokens) : fields.words("sequenceHashes");
    Map<RankId, Integer> held = held(sequence);
    out.writeStartObject();
    out.writeArrayFieldStart("matches");
    for (Map.Entry<RankId, Integer> entry : held.entrySet()) {
      out.writeStartObject();
      OutcomeJson.writeRank(entry.getKey(), out);
      out.writeNumberField("blocks", entry.getValue());
      out.writeEndObject();
    }
    out.writeEndArray();
    out.writeNumberField("promptBlocks", sequence.length);
    requests.end(out);
  }

  void stats(JsonNode line, JsonGenerator out) throws IOException {
    new Fields("", line, Set.of("op"));
    IndexStats held = index.stats();
    StreamStats received = streams.stats();
    out.writeStartObject();
    out.writeNumberField("workers", held.workers());
    out.writeNumberField("ranks", held.ranks());
    out.writeNumberField("memberships", held.memberships());
    out.writeNumberField("distinctBlocks", held.distinctBlocks());
    out.writeNumberField("bytes", held.bytes());
    out.writeNumberField("evictedMemberships", held.evictedMemberships());
    out.writeNumberField("gaps", received.gaps());
    out.writeNumberField("hiddenRanks", received.hiddenRanks());
    out.writeNumberField("recoveries", received.recoveries());
    out.writeNumberField("restarts", received.restarts());
    out.writeNumberField("events", received.events());
    out.writeNumberField("duplicates", received.duplicates());
    out.writeNumberField("overflows", received.overflows());
    out.writeNumberField("pendingBlocks", received.pendingBlocks());
    out.writeNumberField("unknownParents", received.unknownParents());
    out.writeNumberField("unknownBlocks", received.unknownBlocks());
    out.writeNumberField("invalidSequences", received.invalidSequences());
    out.writeNumberField("refused", received.refused());
    requests.end(out);
  }

  FormerOperations former() {
    return former;
  }

  @Override
  public void close() {
    requests.close();
  }
}
