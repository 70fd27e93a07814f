package io.kvasir.cli.lines.former;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.cli.lines.Fields;
import io.kvasir.cli.lines.InvalidLineException;
import io.kvasir.cli.lines.LineLimit;
import io.kvasir.cli.lines.fleet.LineClock;
import io.kvasir.cli.lines.fleet.RequestReader;
import io.kvasir.cli.lines.fleet.RoutedRequests;
import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.router.CandidateCost;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRequestBuilder;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.fleet.router.trtllm.CacheEvents;
import io.kvasir.fleet.router.trtllm.KvCacheAwareFleetRouter;
import io.kvasir.fleet.router.trtllm.ServerDescription;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.Errors;
import io.kvasir.model.RankId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The former operations on servers. Each server is a worker of one rank. Not thread-safe. */
final class ServerOperations implements FormerOperations {

  private static final Set<String> CONFIGURE = Set.of("op", "router", "servers", "args");

  private static final Set<String> NEXT =
      Set.of(
          "op",
          "id",
          "prompt",
          "inputTokens",
          "messages",
          "promptTokenIds",
          "conversationId",
          "subagentAffinityId",
          "exclude",
          "generationOnly",
          "loraTaskId",
          "salt");
  private static final List<String> FORMS = List.of("prompt", "inputTokens", "messages");
  private static final Set<String> FINISH = Set.of("op", "id", "success");
  private static final Set<String> SERVER = Set.of("op", "server");
  private static final Set<String> EVENTS = Set.of("op", "server", "events");
  private static final Set<String> PREPARE = Set.of("op", "server", "tokensPerBlock", "hashAlgo");
  private static final int TOKENS_PER_BLOCK = 32;

  private final FleetRouter router;
  private final boolean followsBlocks;
  private final Map<String, RankId> ranks = new HashMap<>();
  private final Map<Long, String> serversByWorker = new HashMap<>();
  private final RoutedRequests requests;
  private final LineLimit limit;
  private long lastWorker;

  ServerOperations(JsonNode line, LineLimit limit) {
    this.limit = limit;
    Fields configure = new Fields("", line, CONFIGURE);
    List<String> servers = new ArrayList<>();
    for (JsonNode server : configure.array("servers")) {
      if (!server.isTextual()) {
        throw new InvalidLineException(
            "servers must be an array of strings, not " + Errors.shown(server));
      }
      servers.add(named(server.textValue()));
    }
    FleetRouterProvider provider = FleetRouterKind.named(configure.requiredText("router"));
    FleetRouterSetup setup = FleetRouterSetup.of(TOKENS_PER_BLOCK);
    this.router = provider.create(configure.map("args"), setup);
    this.requests =
        new RoutedRequests(
            router, NativeBlockHasher.of(setup.naming(), TOKENS_PER_BLOCK), new LineClock());
    this.followsBlocks = provider.followsBlocks();
    servers.forEach(this::add);
  }

  @Override
  public void carryOut(String op, JsonNode line, JsonGenerator out) throws IOException {
    if (op.equals("next")) {
      next(line, out);
      return;
    }
    switch (op) {
      case "finish" -> finish(line);
      case "add_server" -> addServer(line);
      case "remove_server" -> removeServer(line);
      case "events" -> events(line);
      default -> prepare(line);
    }
    out.writeStartObject();
    out.writeBooleanField("ok", true);
    out.writeEndObject();
  }

  private void next(JsonNode line, JsonGenerator out) throws IOException {
    Fields fields = new Fields("", line, NEXT);
    long id = fields.id("id");
    if (requests.isInFlight(id)) {
      throw new InvalidLineException("id " + id + " is in flight");
    }
    FleetRequestBuilder builder =
        FleetRequest.builder(id, prompt(fields))
            .promptTokenIds(fields.integers("promptTokenIds"))
            .conversationId(fields.text("conversationId"))
            .subagentAffinityId(fields.text("subagentAffinityId"))
            .scope(RequestReader.scope(fields))
            .generationOnly(fields.flag("generationOnly", false))
            .filter(filter(fields.text("exclude")));
    FleetRequest request = builder.build();
    if (router.readsTokens(request)) {
      request = builder.tokens(request.prompt().codePoints()).build();
    }
    RouteOutcome outcome = requests.route(request);
    if (outcome instanceof RouteOutcome.Placed placed) {
      write(placed.placement(), out);
    } else if (outcome instanceof RouteOutcome.Refused refused) {
      throw new InvalidLineException(refused.message());
    } else {
      requests.finish(id, false);
      throw new InvalidLineException("every server that may serve the request is full");
    }
  }

  private Prompt prompt(Fields fields) {
    int[] tokens = fields.integers("inputTokens");
    fields.array("messages");
    fields.text("prompt");
    RequestReader.requireOne(fields, FORMS);
    if (tokens != null && fields.has("promptTokenIds")) {
      throw new InvalidLineException("promptTokenIds must come with prompt or messages");
    }
    return RequestReader.prompt(fields, tokens, limit);
  }

  private RankFilter filter(@Nullable String excluded) {
    RankId rank = ranks.get(excluded);
    return rank == null ? RankFilter.ANY : RankFilter.exclude(Set.of(rank));
  }

  private void finish(JsonNode line) {
    Fields fields = new Fields("", line, FINISH);
    long id = fields.id("id");
    boolean success = fields.flag("success", true);
    requests.finish(id, success);
  }

  private void addServer(JsonNode line) {
    add(named(new Fields("", line, SERVER).requiredText("server")));
  }

  private static String named(String server) {
    if (server.isBlank()) {
      throw new InvalidLineException("server must have a name, not '" + Errors.shown(server) + "'");
    }
    return server;
  }

  private void add(String server) {
    if (!ranks.containsKey(server)) {
      RankId rank = new RankId(++lastWorker, 0);
      ranks.put(server, rank);
      serversByWorker.put(rank.workerId(), server);
      router.addRank(rank, RankCapacity.UNKNOWN);
    }
  }

  private void removeServer(JsonNode line) {
    RankId rank = ranks.remove(new Fields("", line, SERVER).requiredText("server"));
    if (rank != null) {
      serversByWorker.remove(rank.workerId());
      router.removeRank(rank);
    }
  }

  private void events(JsonNode line) {
    Fields fields = new Fields("", line, EVENTS);
    String server = fields.requiredText("server");
    if (!followsBlocks) {
      throw new InvalidLineException("router " + router.name() + " accepts no events");
    }
    List<BlockEvent> parsed = CacheEvents.parse(fields.list("events"));
    RankId rank = rank(server);
    parsed.forEach(event -> router.onBlocks(rank, event));
  }

  /** Adopts the block size and hashes of a server. Refuses those that the router cannot follow. */
  private void prepare(JsonNode line) {
    Fields fields = new Fields("", line, PREPARE);
    String server = fields.requiredText("server");
    Integer tokensPerBlock =
        fields.node("tokensPerBlock") == null
            ? null
            : (Integer) fields.integer("tokensPerBlock", 1, Integer.MAX_VALUE);
    ServerDescription description = new ServerDescription(tokensPerBlock, fields.text("hashAlgo"));
    if (!(router instanceof KvCacheAwareFleetRouter following)) {
      throw new InvalidLineException("router " + router.name() + " accepts no descriptions");
    }
    long worker = rank(server).workerId();
    try {
      following.requireFollowable(worker, description);
    } catch (IllegalStateException e) {
      throw new InvalidLineException(
          Errors.shown(server) + " cannot be prepared: " + e.getMessage());
    }
    following.prepare(worker, description);
  }

  private RankId rank(String server) {
    RankId rank = ranks.get(server);
    if (rank == null) {
      throw new InvalidLineException("server " + Errors.shown(server) + " is unknown");
    }
    return rank;
  }

  @Override
  public void close() {
    requests.close();
  }

  private void write(Placement placement, JsonGenerator out) throws IOException {
    out.writeStartObject();
    out.writeStringField("server", serversByWorker.get(placement.rank().workerId()));
    out.writeObjectFieldStart("info");
    out.writeStringField("reason", placement.reason().id());
    out.writeBooleanField("firstTurn", placement.firstTurn());
    if (placement.conversationId() != null) {
      out.writeStringField("conversationId", placement.conversationId());
    }
    if (placement.tokensPerBlock() > 0) {
      out.writeObjectFieldStart("matches");
      for (CandidateCost candidate : placement.candidates()) {
        out.writeNumberField(
            serversByWorker.get(candidate.rank().workerId()),
            (long) candidate.matchedBlocks() * placement.tokensPerBlock());
      }
      out.writeEndObject();
      out.writeNumberField("matchLength", placement.matchedTokens());
    }
    out.writeEndObject();
    out.writeEndObject();
  }
}
