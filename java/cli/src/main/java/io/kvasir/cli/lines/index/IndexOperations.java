package io.kvasir.cli.lines.index;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.cli.lines.Fields;
import io.kvasir.cli.lines.InvalidLineException;
import io.kvasir.cli.lines.LineLimit;
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
import io.kvasir.fleet.router.cost.CostSettings;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import io.kvasir.model.RankId;
import java.io.IOException;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

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
  private static final Set<String> DATA = Set.of("stored", "removed", "cleared");
  private static final Set<String> STORED = Set.of("parentHash", "rootHash", "blocks");
  private static final Set<String> BLOCK = Set.of("blockHash", "tokens", "tokensHash");
  private static final Set<String> REMOVED = Set.of("blockHashes");
  private static final Set<String> MATCH = Set.of("op", "tokens", "sequenceHashes");

  private static final long MAX_BYTES = 8L << 30;

  private final NativeBlockHasher hasher;
  private final PrefixIndex index;
  private final EventStreams streams;
  private final RequestLedger ledger;
  private final PredictOperations prediction;
  private final SelectOperations selection;
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
    LedgerClock clock = new LedgerClock();
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
    ledger = new RequestLedger(settings, predicting, format, tokensPerBlock, clock);
    prediction = new PredictOperations(tokensPerBlock, this::held, this::sequence, ledger, limit);
    selection = new SelectOperations(hasher, ledger);
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
    RankId rank = rank(fields);
    long eventId = fields.word("eventId");
    streams.onEvent(rank, eventId, change("data", fields.node("data")));
    ledger.addRank(rank);
    ledger.ok(out);
  }

  /** All blocks that a rank holds after an event, by default after the last event received. */
  void snapshot(JsonNode line, JsonGenerator out) throws IOException {
    Fields fields = new Fields("", line, EVENT);
    RankId rank = rank(fields);
    List<BlockEvent.Stored> contents = new ArrayList<>();
    JsonNode data = fields.requiredArray("data");
    for (int i = 0; i < data.size(); i++) {
      if (!(change("data[" + i + "]", data.get(i)) instanceof BlockEvent.Stored stored)) {
        throw new InvalidLineException("data[" + i + "] must be stored");
      }
      contents.add(stored);
    }
    if (!fields.has("eventId")) {
      streams.onSnapshot(rank, contents);
    } else if (!streams.onSnapshot(rank, fields.word("eventId"), contents)) {
      throw new InvalidLineException("eventId must not be before the last applied event");
    }
    ledger.addRank(rank);
    ledger.ok(out);
  }

  void removeWorker(JsonNode line, JsonGenerator out) throws IOException {
    long worker = new Fields("", line, Set.of("op", "worker")).word("worker");
    streams.removeWorker(worker);
    ledger.removeWorker(worker);
    ledger.ok(out);
  }

  static RankId rank(Fields fields) {
    return new RankId(fields.word("worker"), fields.integer("dpRank", 0, Integer.MAX_VALUE, 0));
  }

  private BlockEvent change(String path, @Nullable JsonNode data) {
    Fields fields = new Fields(path, data, DATA);
    if (fields.size() != 1) {
      throw new InvalidLineException(path + " must have one of stored, removed, cleared");
    }
    if (fields.has("stored")) {
      return stored(path + ".stored", fields.node("stored"));
    }
    if (fields.has("removed")) {
      Fields removed = new Fields(path + ".removed", fields.node("removed"), REMOVED);
      return BlockEvent.Removed.of(removed.words("blockHashes"));
    }
    new Fields(path + ".cleared", fields.node("cleared"), Set.of());
    return new BlockEvent.Cleared();
  }

  private BlockEvent.Stored stored(String path, @Nullable JsonNode stored) {
    Fields fields = new Fields(path, stored, STORED);
    JsonNode blocks = fields.requiredArray("blocks");
    long[] handles = new long[blocks.size()];
    long[] localHashes = new long[blocks.size()];
    for (int i = 0; i < handles.length; i++) {
      Fields block = new Fields(path + ".blocks[" + i + "]", blocks.get(i), BLOCK);
      handles[i] = block.word("blockHash");
      localHashes[i] = block.has("tokensHash") ? block.word("tokensHash") : localHash(block);
    }
    if (fields.node("parentHash") != null) {
      return BlockEvent.Stored.after(fields.word("parentHash"), handles, localHashes);
    }
    long rootHash = fields.has("rootHash") ? fields.word("rootHash") : 0;
    return BlockEvent.Stored.root(rootHash, handles, localHashes);
  }

  private long localHash(Fields block) {
    int[] tokens = block.integers("tokens");
    int wanted = hasher.tokensPerBlock();
    if (tokens == null || tokens.length != wanted) {
      throw new InvalidLineException(
          block.at("tokens") + " must be an array of " + wanted + " integers, the tokensPerBlock");
    }
    return hasher.hash(tokens, CacheScope.NONE).local()[0];
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
      write(entry.getKey(), out);
      out.writeNumberField("blocks", entry.getValue());
      out.writeEndObject();
    }
    out.writeEndArray();
    out.writeNumberField("promptBlocks", sequence.length);
    ledger.end(out);
  }

  /** Writes a rank's two fields. */
  static void write(RankId rank, JsonGenerator out) throws IOException {
    out.writeFieldName("worker");
    out.writeNumber(new BigInteger(Long.toUnsignedString(rank.workerId())));
    out.writeNumberField("dpRank", rank.dpRank());
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
    ledger.end(out);
  }

  PredictOperations prediction() {
    return prediction;
  }

  SelectOperations selection() {
    return selection;
  }

  @Override
  public void close() {
    ledger.close();
  }
}
