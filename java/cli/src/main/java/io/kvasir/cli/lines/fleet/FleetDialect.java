package io.kvasir.cli.lines.fleet;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.cli.lines.Fields;
import io.kvasir.cli.lines.InvalidLineException;
import io.kvasir.cli.lines.LineLimit;
import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.index.EventStreams;
import io.kvasir.fleet.index.FirstNumber;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.index.RecoverySource;
import io.kvasir.fleet.index.StreamLimits;
import io.kvasir.fleet.router.EngineMetrics;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.Refusal;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.fleet.router.trtllm.KvCacheAwareFleetRouter;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.RankId;
import io.kvasir.timing.ForwardPass;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Operations on a fleet router of any policy: {@code add_rank}, {@code remove_rank}, {@code route},
 * {@code explain}, {@code tokens}, {@code finish} and {@code event}. All fields of an operation are
 * checked before anything changes. Not thread-safe.
 */
public final class FleetDialect implements AutoCloseable {

  /** The operations, besides {@code configure}. */
  public static final List<String> OPERATIONS =
      List.of("add_rank", "remove_rank", "route", "explain", "tokens", "finish", "event");

  /** The field of {@code configure} that names the policy. */
  public static final String POLICY = "fleetRouter";

  private static final Set<String> CONFIGURE =
      Set.of("op", POLICY, "args", "tokensPerBlock", "hash");
  private static final Set<String> ADD_RANK =
      withNow("worker", "dpRank", "totalKvBlocks", "maxNumBatchedTokens");
  private static final Set<String> REMOVE_RANK = withNow("worker", "dpRank");
  private static final Set<String> REQUEST = withNow(RequestReader.FIELDS.toArray(String[]::new));
  private static final Set<String> TOKENS = withNow("id", "count", "tokens", "prefillDone");
  private static final Set<String> FINISH = withNow("id", "success", "cachedTokens");
  private static final Set<String> EVENT = withNow("worker", "dpRank", "eventId", "data");
  private static final Set<String> DATA =
      Set.of("stored", "removed", "cleared", "snapshot", "metrics", "step");
  private static final Set<String> METRICS =
      Set.of("activeBlocks", "totalBlocks", "waitingRequests");
  private static final Set<String> STEP =
      Set.of(
          "durationMs",
          "prefillRequests",
          "prefillTokens",
          "prefillKvTokens",
          "decodingRequests",
          "decodeKvTokens");

  private static final int TOKENS_PER_BLOCK = 32;
  private static final double NS_PER_MS = 1e6;

  private final LineLimit limit;
  private final FleetRouter router;
  private final LineClock clock = new LineClock();
  private final RoutedRequests requests;
  private final RequestReader reader;
  private final BlockEventReader changes;
  private final @Nullable EventStreams streams;

  /**
   * Makes a router without ranks.
   *
   * @param configure the policy, its args and how its ranks name blocks
   * @param limit bounds the work of a line
   */
  public FleetDialect(JsonNode configure, LineLimit limit) {
    this.limit = limit;
    Fields fields = new Fields("", configure, CONFIGURE);
    int tokensPerBlock = fields.integer("tokensPerBlock", 1, 1 << 16, TOKENS_PER_BLOCK);
    HashFormat format =
        HashFormat.parse(fields.has("hash") ? fields.requiredText("hash") : HashFormat.KVASIR.id());
    NativeBlockHasher hasher = NativeBlockHasher.of(format, tokensPerBlock);
    this.router =
        FleetRouterKind.named(fields.requiredText(POLICY))
            .create(
                fields.map("args"), new FleetRouterSetup(format, tokensPerBlock, clock, Map.of()));
    this.requests = new RoutedRequests(router, hasher, clock);
    this.reader = new RequestReader(hasher, limit);
    this.changes = new BlockEventReader(hasher, true);
    PrefixIndex index = router.index();
    this.streams =
        index == null
            ? null
            : new EventStreams(
                index, RecoverySource.NONE, StreamLimits.DEFAULT, FirstNumber.RECEIVED);
  }

  private static Set<String> withNow(String... fields) {
    Set<String> all = new HashSet<>(List.of(fields));
    all.add("op");
    all.add(LineClock.NOW_MS);
    return Set.copyOf(all);
  }

  /**
   * Carries out an operation.
   *
   * @param op one of {@link #OPERATIONS}
   * @param line the operation
   * @param out receives the answer
   * @throws IOException if the output fails
   */
  public void carryOut(String op, JsonNode line, JsonGenerator out) throws IOException {
    switch (op) {
      case "add_rank" -> addRank(new Fields("", line, ADD_RANK), out);
      case "remove_rank" -> removeRank(new Fields("", line, REMOVE_RANK), out);
      case "route" -> route(new Fields("", line, REQUEST), out);
      case "explain" -> explain(new Fields("", line, REQUEST), out);
      case "tokens" -> tokens(new Fields("", line, TOKENS), out);
      case "finish" -> finish(new Fields("", line, FINISH), out);
      default -> event(new Fields("", line, EVENT), out);
    }
  }

  private void addRank(Fields fields, JsonGenerator out) throws IOException {
    addRank(fields, requests, out);
  }

  /**
   * Adds a rank, or changes its capacity.
   *
   * @param fields the operation {@code add_rank}
   * @param requests has the router
   * @param out receives the answer
   * @throws IOException if the output fails
   */
  public static void addRank(Fields fields, RoutedRequests requests, JsonGenerator out)
      throws IOException {
    RankId rank = BlockEventReader.rank(fields);
    RankCapacity capacity =
        new RankCapacity(
            fields.longInteger("totalKvBlocks", 0, Long.MAX_VALUE, 0),
            fields.longInteger("maxNumBatchedTokens", 0, Long.MAX_VALUE, 0));
    requests.clock().set(requests.clock().read(fields));
    requests.addRank(rank, capacity);
    requests.ok(out);
  }

  private void removeRank(Fields fields, JsonGenerator out) throws IOException {
    RankId rank = known(fields);
    clock.set(clock.read(fields));
    if (streams != null) {
      streams.removeRank(rank);
    }
    requests.removeRank(rank);
    requests.ok(out);
  }

  private RankId known(Fields fields) {
    RankId rank = BlockEventReader.rank(fields);
    if (!requests.hasRank(rank)) {
      throw new InvalidLineException(
          "worker and dpRank must be those of a rank that add_rank has added, not " + rank);
    }
    return rank;
  }

  private void route(Fields fields, JsonGenerator out) throws IOException {
    FleetRequest request = reader.request(fields, router);
    clock.set(clock.read(fields));
    boolean taken = requests.isWaiting(request.id()) || requests.isInFlight(request.id());
    requests.answer(
        taken ? new RouteOutcome.Refused(Refusal.DUPLICATE_REQUEST) : requests.route(request), out);
  }

  private void explain(Fields fields, JsonGenerator out) throws IOException {
    FleetRequest request = reader.request(fields, router);
    clock.set(clock.read(fields));
    RouteOutcome outcome = router.preview(request);
    if (outcome == null) {
      throw new InvalidLineException(
          "explain needs a "
              + POLICY
              + " whose choices can be previewed; those of "
              + router.name()
              + " depend on earlier ones");
    }
    requests.answer(outcome, out);
  }

  /** Without tokens and without the end of the prompt, the request is reported to be alive. */
  private void tokens(Fields fields, JsonGenerator out) throws IOException {
    long id = fields.id("id");
    int[] tokens = fields.integers("tokens");
    int count = fields.integer("count", 0, Integer.MAX_VALUE, 0);
    boolean prefillDone = fields.flag("prefillDone", false);
    if (tokens != null && fields.has("count")) {
      throw new InvalidLineException("count and tokens exclude each other");
    }
    long nowMs = clock.read(fields);
    long attempt = requests.attempt(id);
    boolean inFlight = true;
    if (tokens != null) {
      inFlight = requests.onTokens(id, tokens, nowMs, limit);
    } else {
      clock.set(nowMs);
      if (count > 0) {
        inFlight = router.onTokens(attempt, count);
      } else if (!prefillDone) {
        router.onAlive(attempt);
      }
    }
    if (prefillDone) {
      inFlight &= router.onPrefillDone(attempt);
    }
    if (inFlight) {
      requests.ok(out);
    } else {
      requests.forget(ended -> ended == id);
      requests.noEffect("the router has ended request " + id, out);
    }
  }

  private void finish(Fields fields, JsonGenerator out) throws IOException {
    long id = fields.id("id");
    boolean success = fields.flag("success", true);
    int cachedTokens = fields.integer("cachedTokens", 0, Integer.MAX_VALUE, -1);
    clock.set(clock.read(fields));
    if (cachedTokens >= 0 && requests.isInFlight(id)) {
      router.onServed(requests.attempt(id), cachedTokens);
    }
    requests.finish(id, success);
    requests.ok(out);
  }

  /** What an engine reports of a rank. Policies ignore events that they do not use. */
  private void event(Fields fields, JsonGenerator out) throws IOException {
    RankId rank = known(fields);
    Fields data = new Fields("data", fields.node("data"), DATA);
    if (data.size() != 1) {
      throw new InvalidLineException(
          "data must have one of stored, removed, cleared, snapshot, metrics, step");
    }
    if (data.has("metrics")) {
      EngineMetrics metrics = metrics(new Fields("data.metrics", data.node("metrics"), METRICS));
      clock.set(clock.read(fields));
      router.onMetrics(rank, metrics);
    } else if (data.has("step")) {
      ForwardPass step = step(new Fields("data.step", data.node("step"), STEP));
      clock.set(clock.read(fields));
      router.onForwardPass(rank, step);
    } else if (data.has("snapshot")) {
      snapshot(rank, fields, data, out);
      return;
    } else {
      blocks(rank, fields);
    }
    requests.ok(out);
  }

  private void snapshot(RankId rank, Fields fields, Fields data, JsonGenerator out)
      throws IOException {
    long number = fields.word("eventId");
    List<BlockEvent.Stored> contents = new ArrayList<>();
    JsonNode stored = data.requiredArray("snapshot");
    for (int i = 0; i < stored.size(); i++) {
      contents.add(changes.stored("data.snapshot[" + i + "]", stored.get(i)));
    }
    clock.set(clock.read(fields));
    if (streams == null || streams.onSnapshot(rank, number, contents)) {
      requests.ok(out);
    } else {
      requests.noEffect("eventId is before the last applied event", out);
    }
  }

  private void blocks(RankId rank, Fields fields) {
    long number = fields.word("eventId");
    BlockEvent event = changes.change("data", fields.node("data"));
    if (router instanceof KvCacheAwareFleetRouter
        && event instanceof BlockEvent.Stored stored
        && stored.sequenceHashes() == null) {
      throw new InvalidLineException(
          "data.stored.blocks must have neither tokens nor tokensHash for "
              + router.name()
              + ", which knows blocks by TensorRT-LLM's hashes");
    }
    clock.set(clock.read(fields));
    if (streams == null) {
      router.onBlocks(rank, event);
    } else {
      streams.onEvent(rank, number, event);
    }
  }

  private static EngineMetrics metrics(Fields fields) {
    return new EngineMetrics(
        count(fields, "activeBlocks"),
        count(fields, "totalBlocks"),
        fields.integer("waitingRequests", 0, Integer.MAX_VALUE, 0));
  }

  private static ForwardPass step(Fields fields) {
    double ms = fields.number("durationMs", 0);
    if (!(ms >= 0 && ms <= Long.MAX_VALUE / NS_PER_MS)) {
      throw new InvalidLineException(
          fields.at("durationMs")
              + " must be from 0 to "
              + Long.MAX_VALUE / NS_PER_MS
              + ", not "
              + ms);
    }
    return new ForwardPass(
        Math.round(ms * NS_PER_MS),
        fields.integer("prefillRequests", 0, Integer.MAX_VALUE, 0),
        count(fields, "prefillTokens"),
        count(fields, "prefillKvTokens"),
        fields.integer("decodingRequests", 0, Integer.MAX_VALUE, 0),
        count(fields, "decodeKvTokens"));
  }

  private static long count(Fields fields, String name) {
    return fields.longInteger(name, 0, Long.MAX_VALUE, 0);
  }

  @Override
  public void close() {
    requests.close();
  }
}
