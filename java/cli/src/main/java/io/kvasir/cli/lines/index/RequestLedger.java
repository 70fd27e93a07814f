package io.kvasir.cli.lines.index;

import com.fasterxml.jackson.core.JsonGenerator;
import io.kvasir.cli.lines.Fields;
import io.kvasir.cli.lines.InvalidLineException;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.load.ActiveSequences;
import io.kvasir.fleet.router.CandidateCost;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.fleet.router.booking.BookingRouter;
import io.kvasir.fleet.router.cost.CostSelector;
import io.kvasir.fleet.router.cost.CostSettings;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The requests in flight and in the queue, by the ids that the lines choose. Outcomes of queued
 * requests are kept until the next answer contains them. Not thread-safe.
 */
final class RequestLedger implements AutoCloseable {

  private static final long NS_PER_MS = 1_000_000;

  /**
   * A request in flight.
   *
   * @param attempt its attempt
   * @param tokens its tokens so far; null if its output blocks are not hashed
   * @param hashedBlocks number of leading blocks that are hashed
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record InFlight(long attempt, int @Nullable [] tokens, int hashedBlocks) {}

  /** The outcome of a request that was in the queue. */
  private record Settled(long id, RouteOutcome outcome) {}

  private final BookingRouter router;
  private final LedgerClock clock;
  private final Set<RankId> ranks = new TreeSet<>();
  private final Map<Long, InFlight> inFlight = new HashMap<>();
  private final Map<Long, CompletableFuture<RouteOutcome>> waiting = new HashMap<>();
  private final List<Settled> settled = new ArrayList<>();

  /** Makes a ledger without ranks. Closing it closes the index. */
  RequestLedger(
      CostSettings settings,
      PrefixIndex index,
      HashFormat format,
      int tokensPerBlock,
      LedgerClock clock) {
    this.clock = clock;
    this.router =
        new BookingRouter(
            "cost",
            index,
            new CostSelector(settings.weights(), settings.ties()),
            settings.booking().options(),
            new FleetRouterSetup(format, tokensPerBlock, clock, Map.of()));
  }

  BookingRouter router() {
    return router;
  }

  LedgerClock clock() {
    return clock;
  }

  /** Adds a rank of unknown capacity if it is missing. */
  void addRank(RankId rank) {
    if (!ranks.contains(rank)) {
      addRank(rank, RankCapacity.UNKNOWN);
    }
  }

  /** Adds a rank, or changes its capacity. */
  void addRank(RankId rank, RankCapacity capacity) {
    ranks.add(rank);
    router.addRank(rank, capacity);
  }

  void removeWorker(long worker) {
    ranks.removeIf(rank -> rank.workerId() == worker && router.removeRank(rank));
    forgetEnded();
  }

  /** Ends attempts that have been silent for too long. */
  void expireStale() {
    if (router.expireStale() > 0) {
      forgetEnded();
    }
  }

  private void forgetEnded() {
    inFlight.keySet().removeIf(id -> attemptOf(id) == ActiveSequences.NONE);
  }

  private long attemptOf(long id) {
    return router.<Long>withLoads(loads -> loads.attemptOf(id));
  }

  /** Refuses the id of a request that is in flight or in the queue. */
  void requireFree(long id) {
    if (waiting.containsKey(id) || attemptOf(id) != ActiveSequences.NONE) {
      throw new InvalidLineException("id " + id + " is in flight");
    }
  }

  /** The request in flight that a line names. */
  InFlight inFlight(Fields fields) {
    long id = fields.id("id");
    InFlight request = inFlight.get(id);
    if (request == null || attemptOf(id) != request.attempt()) {
      throw new InvalidLineException("id " + id + " is not in flight");
    }
    return request;
  }

  void put(long id, InFlight request) {
    inFlight.put(id, request);
  }

  /** Ends a request or removes it from the queue. Ignores unknown ids. */
  void free(long id) {
    CompletableFuture<RouteOutcome> future = waiting.remove(id);
    if (future != null) {
      future.cancel(false);
    }
    InFlight ended = inFlight.remove(id);
    router.onFinished(ended == null ? ActiveSequences.NONE : ended.attempt(), true);
  }

  /**
   * Routes a request.
   *
   * @param tokens its tokens; null if its output blocks are not hashed
   * @param blocks the number of its full blocks
   */
  RouteOutcome route(FleetRequest request, int @Nullable [] tokens, int blocks) {
    RouteOutcome outcome = router.route(request);
    if (outcome instanceof RouteOutcome.Waiting wait) {
      waiting.put(request.id(), wait.outcome());
      CompletableFuture<RouteOutcome> unused =
          wait.outcome()
              .whenComplete(
                  (later, cancelled) -> {
                    if (later != null) {
                      waiting.remove(request.id());
                      settled.add(new Settled(request.id(), later));
                      record(request.id(), later, tokens, blocks);
                    }
                  });
    }
    record(request.id(), outcome, tokens, blocks);
    return outcome;
  }

  private void record(long id, RouteOutcome outcome, int @Nullable [] tokens, int blocks) {
    if (outcome instanceof RouteOutcome.Placed placed) {
      inFlight.put(id, new InFlight(placed.placement().attempt(), tokens, blocks));
    }
  }

  /** Writes {@code {"ok":true}} with the outcomes since the last answer. */
  void ok(JsonGenerator out) throws IOException {
    out.writeStartObject();
    out.writeBooleanField("ok", true);
    end(out);
  }

  /** Ends an answer with the outcomes since the last answer. */
  void end(JsonGenerator out) throws IOException {
    if (!settled.isEmpty()) {
      writeSettled(out);
    }
    out.writeEndObject();
  }

  /** Writes the field {@code settled}, which can be empty. */
  void writeSettled(JsonGenerator out) throws IOException {
    out.writeArrayFieldStart("settled");
    for (Settled each : settled) {
      out.writeStartObject();
      out.writeNumberField("id", each.id());
      writeOutcome(each.outcome(), out);
      out.writeEndObject();
    }
    out.writeEndArray();
    settled.clear();
  }

  /** Writes the fields of an outcome. */
  static void writeOutcome(RouteOutcome outcome, JsonGenerator out) throws IOException {
    if (outcome instanceof RouteOutcome.Placed placed) {
      writePlacement(placed.placement(), out);
    } else if (outcome instanceof RouteOutcome.Refused refused) {
      out.writeStringField("refused", refused.refusal().id());
      out.writeStringField("message", refused.message());
    } else {
      out.writeBooleanField("waiting", true);
    }
  }

  private static void writePlacement(Placement placement, JsonGenerator out) throws IOException {
    IndexOperations.write(placement.rank(), out);
    out.writeNumberField("attempt", placement.attempt());
    out.writeNumberField("matchedBlocks", placement.matchedBlocks());
    out.writeStringField("reason", placement.reason().id());
    out.writeNumberField("waitedMs", placement.waitedNs() / NS_PER_MS);
    if (placement.candidates().isEmpty()) {
      return;
    }
    out.writeArrayFieldStart("costs");
    for (CandidateCost cost : placement.candidates()) {
      out.writeStartObject();
      IndexOperations.write(cost.rank(), out);
      out.writeNumberField("matchedBlocks", cost.matchedBlocks());
      out.writeNumberField("activePrefillTokens", cost.activePrefillTokens());
      out.writeNumberField("activeBlocks", cost.activeBlocks());
      out.writeNumberField("newBlocks", cost.newBlocks());
      out.writeNumberField("activeRequests", cost.activeRequests());
      out.writeNumberField("cost", cost.cost());
      out.writeObjectFieldStart("terms");
      for (Map.Entry<String, Double> term : cost.terms().entrySet()) {
        out.writeNumberField(term.getKey(), term.getValue());
      }
      out.writeEndObject();
      out.writeEndObject();
    }
    out.writeEndArray();
  }

  @Override
  public void close() {
    router.close();
  }
}
