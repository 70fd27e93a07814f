package io.kvasir.cli.lines.fleet;

import com.fasterxml.jackson.core.JsonGenerator;
import io.kvasir.cli.lines.InvalidLineException;
import io.kvasir.cli.lines.LineLimit;
import io.kvasir.fleet.load.ActiveSequences;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.fleet.router.booking.BookingRouter;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import io.kvasir.model.RankId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a fleet router that are in flight or wait, by the ids that the lines choose, and
 * the router's ranks. Outcomes of requests that waited are kept until the next answer contains
 * them. Not thread-safe.
 */
public final class RoutedRequests implements AutoCloseable {

  /**
   * A request in flight.
   *
   * @param attempt its attempt
   * @param rank its rank
   * @param tokens its tokens so far; null if its output blocks have no names
   * @param hashedBlocks number of leading blocks that are hashed
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record InFlight(long attempt, RankId rank, int @Nullable [] tokens, int hashedBlocks) {}

  /** The outcome of a request that has waited. */
  private record Settled(long id, RouteOutcome outcome) {}

  private final FleetRouter router;
  private final NativeBlockHasher hasher;
  private final LineClock clock;
  private final Set<RankId> ranks = new TreeSet<>();
  private final Map<Long, InFlight> inFlight = new HashMap<>();
  private final Map<Long, CompletableFuture<RouteOutcome>> waiting = new HashMap<>();
  private final List<Settled> settled = new ArrayList<>();

  /**
   * Starts without ranks and requests.
   *
   * @param router the router; closed with this
   * @param hasher hashes blocks as the router does
   * @param clock the router's clock
   */
  public RoutedRequests(FleetRouter router, NativeBlockHasher hasher, LineClock clock) {
    this.router = router;
    this.hasher = hasher;
    this.clock = clock;
  }

  /** {@return the clock that operations set} */
  public LineClock clock() {
    return clock;
  }

  /**
   * Whether a rank has been added.
   *
   * @param rank the rank
   * @return false if it was never added, or removed since
   */
  public boolean hasRank(RankId rank) {
    return ranks.contains(rank);
  }

  /**
   * Adds a rank of unknown capacity if it is missing.
   *
   * @param rank the rank
   */
  public void addRank(RankId rank) {
    if (!ranks.contains(rank)) {
      addRank(rank, RankCapacity.UNKNOWN);
    }
  }

  /**
   * Adds a rank, or changes its capacity.
   *
   * @param rank the rank
   * @param capacity its capacity
   */
  public void addRank(RankId rank, RankCapacity capacity) {
    ranks.add(rank);
    router.addRank(rank, capacity);
  }

  /**
   * Removes a rank. Its requests end.
   *
   * @param rank the rank
   */
  public void removeRank(RankId rank) {
    ranks.remove(rank);
    router.removeRank(rank);
    boolean workerGone = ranks.stream().noneMatch(each -> each.workerId() == rank.workerId());
    inFlight
        .values()
        .removeIf(
            request ->
                request.rank().equals(rank)
                    || (workerGone && request.rank().workerId() == rank.workerId()));
  }

  /**
   * Removes all ranks of a worker. Their requests end.
   *
   * @param worker the worker
   */
  public void removeWorker(long worker) {
    for (RankId rank : List.copyOf(ranks)) {
      if (rank.workerId() == worker) {
        removeRank(rank);
      }
    }
  }

  /**
   * Routes a request. The caller makes sure that its id is free.
   *
   * @param request the request
   * @return the outcome; if the request waits, a later answer has its final one
   */
  public RouteOutcome route(FleetRequest request) {
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
                      record(request, later);
                    }
                  });
    }
    record(request, outcome);
    return outcome;
  }

  private void record(FleetRequest request, RouteOutcome outcome) {
    if (outcome instanceof RouteOutcome.Placed placed) {
      Placement placement = placed.placement();
      int[] tokens = namedTokens(request);
      int blocks =
          tokens == null ? 0 : request.hashes(hasher.format(), hasher.tokensPerBlock()).blocks();
      inFlight.put(
          request.id(), new InFlight(placement.attempt(), placement.rank(), tokens, blocks));
    }
  }

  /** The tokens that names of output blocks need; null if such blocks get no names. */
  private int @Nullable [] namedTokens(FleetRequest request) {
    List<int[]> tokens = request.tokens();
    if (!(router instanceof BookingRouter) || tokens == null || tokens.size() != 1) {
      return null;
    }
    boolean shared = !Boolean.FALSE.equals(request.overrides().assumeKvReuse());
    boolean whole = tokens.get(0).length == request.inputTokens();
    return shared && whole ? tokens.get(0) : null;
  }

  /**
   * Notes a request that was booked without {@link #route}.
   *
   * @param id its id
   * @param attempt its attempt
   * @param rank its rank
   * @param tokens its prompt
   */
  public void booked(long id, long attempt, RankId rank, int[] tokens) {
    int blocks = tokens.length / hasher.tokensPerBlock();
    inFlight.put(id, new InFlight(attempt, rank, tokens, blocks));
  }

  /**
   * Whether a request waits.
   *
   * @param id its id
   * @return false if it was placed, refused or never routed
   */
  public boolean isWaiting(long id) {
    return waiting.containsKey(id);
  }

  /**
   * Whether a request has been placed and has not ended.
   *
   * @param id its id
   * @return false if it waits, has ended or was never routed
   */
  public boolean isInFlight(long id) {
    return inFlight.containsKey(id);
  }

  /**
   * The attempt of a request in flight.
   *
   * @param id the request
   * @return its attempt
   * @throws InvalidLineException if the request is not in flight
   */
  public long attempt(long id) {
    return inFlight(id).attempt();
  }

  private InFlight inFlight(long id) {
    InFlight request = inFlight.get(id);
    if (request == null) {
      throw notInFlight(id);
    }
    return request;
  }

  /**
   * {@return the error of an operation on a request that is not in flight}
   *
   * @param id the request
   */
  public static InvalidLineException notInFlight(long id) {
    return new InvalidLineException("id " + id + " is not in flight");
  }

  /**
   * Reports output tokens. Names the blocks that they fill where the router shares such blocks.
   * O(tokens of the request).
   *
   * @param id a request in flight
   * @param more the tokens, at least one
   * @param nowMs the time to set
   * @param limit bounds the work
   * @return false if the router has ended the attempt
   */
  public boolean onTokens(long id, int[] more, long nowMs, LineLimit limit) {
    InFlight request = inFlight(id);
    if (more.length == 0) {
      throw new InvalidLineException("tokens must have at least one entry");
    }
    if (request.tokens() == null || !(router instanceof BookingRouter booking)) {
      clock.set(nowMs);
      return router.onTokens(request.attempt(), more.length);
    }
    int before = request.tokens().length;
    limit.add("tokens", before);
    int[] tokens = Arrays.copyOf(request.tokens(), before + more.length);
    System.arraycopy(more, 0, tokens, before, more.length);
    int size = hasher.tokensPerBlock();
    int full = Math.max(request.hashedBlocks(), (tokens.length - 1) / size);
    int[] filled = Arrays.copyOf(tokens, full * size);
    long[] hashes =
        Arrays.copyOfRange(
            hasher.hash(filled, CacheScope.NONE).sequence(), request.hashedBlocks(), full);
    clock.set(nowMs);
    inFlight.put(id, new InFlight(request.attempt(), request.rank(), tokens, full));
    return booking.onTokens(request.attempt(), more.length, hashes, hashes.length);
  }

  /**
   * Ends a request, or takes it out of the queue. An unknown id changes no request.
   *
   * @param id the request
   * @param success whether it was served
   */
  public void finish(long id, boolean success) {
    CompletableFuture<RouteOutcome> future = waiting.remove(id);
    if (future != null) {
      future.cancel(false);
    }
    InFlight ended = inFlight.remove(id);
    router.onFinished(ended == null ? ActiveSequences.NONE : ended.attempt(), success);
  }

  /**
   * Forgets requests that the router has ended.
   *
   * @param ended whether the request of an id has ended
   */
  public void forget(LongPredicate ended) {
    inFlight.keySet().removeIf(ended::test);
  }

  /**
   * Writes {@code {"ok":true}} with the outcomes since the last answer.
   *
   * @param out receives the answer
   * @throws IOException if the output fails
   */
  public void ok(JsonGenerator out) throws IOException {
    out.writeStartObject();
    out.writeBooleanField("ok", true);
    end(out);
  }

  /**
   * Writes {@code {"ok":false}} and why an operation had no effect.
   *
   * @param message why
   * @param out receives the answer
   * @throws IOException if the output fails
   */
  void noEffect(String message, JsonGenerator out) throws IOException {
    out.writeStartObject();
    out.writeBooleanField("ok", false);
    out.writeStringField("message", message);
    end(out);
  }

  /**
   * Writes an outcome, with the outcomes since the last answer.
   *
   * @param outcome the outcome
   * @param out receives the answer
   * @throws IOException if the output fails
   */
  public void answer(RouteOutcome outcome, JsonGenerator out) throws IOException {
    out.writeStartObject();
    OutcomeJson.write(outcome, out);
    end(out);
  }

  /**
   * Ends an answer with the outcomes since the last answer.
   *
   * @param out receives the end of the answer
   * @throws IOException if the output fails
   */
  public void end(JsonGenerator out) throws IOException {
    if (!settled.isEmpty()) {
      writeSettled(out);
    }
    out.writeEndObject();
  }

  /**
   * Writes the field {@code settled}, which can be empty.
   *
   * @param out receives the field
   * @throws IOException if the output fails
   */
  public void writeSettled(JsonGenerator out) throws IOException {
    out.writeArrayFieldStart("settled");
    for (Settled each : settled) {
      out.writeStartObject();
      out.writeNumberField("id", each.id());
      OutcomeJson.write(each.outcome(), out);
      out.writeEndObject();
    }
    out.writeEndArray();
    settled.clear();
  }

  @Override
  public void close() {
    router.close();
  }
}
