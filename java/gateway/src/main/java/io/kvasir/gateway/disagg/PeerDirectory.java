package io.kvasir.gateway.disagg;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.exchange.EventLoop;
import io.kvasir.exchange.Upstream;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.worker.DisaggDialect;
import io.kvasir.gateway.worker.DisaggSpec;
import io.kvasir.gateway.worker.EngineQuestion;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What requests of decode workers have of prefill workers that have not answered yet. Engines are
 * asked once, and again after they were away or a transfer failed.
 *
 * <p>Thread-safe.
 */
final class PeerDirectory implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(PeerDirectory.class);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final TypeReference<Map<String, Object>> MAP = new TypeReference<>() {};

  /** What requests have of a context server's own parameters. */
  private static final Set<String> OF_REQUESTS =
      Set.of("ctx_info_endpoint", "ctx_dp_rank", "encoded_opaque_state");

  private static final String QUERY = "/query";
  private static final String SERVER_INFO = "/server_info";
  private static final int MAX_BYTES = 1 << 20;

  private final Function<URI, Upstream> connect;
  private final long timeoutMs;
  private final Map<URI, Upstream> bootstraps = new ConcurrentHashMap<>();
  private final Map<FleetWorker, Known> known = new ConcurrentHashMap<>();

  /** The requests that wait for an answer, by worker. Guarded by itself. */
  private final Map<FleetWorker, List<Waiting>> asked = new HashMap<>();

  /** The facts of a worker's ranks in one life of its engine. */
  private record Known(long lives, Map<Integer, PeerFacts> ranks) {}

  /** A request that waits for the facts of a rank. */
  private record Waiting(int rank, EventLoop loop, Consumer<@Nullable PeerFacts> receiver) {}

  /** The facts in an answer; of rank -1 those of every rank. */
  private interface Reader {
    Map<Integer, PeerFacts> read(JsonNode answer);
  }

  /**
   * Begins without answers.
   *
   * @param connect opens the way to a bootstrap server; closed with this
   * @param timeoutMs limit for an answer, in milliseconds
   */
  PeerDirectory(Function<URI, Upstream> connect, long timeoutMs) {
    this.connect = connect;
    this.timeoutMs = timeoutMs;
  }

  /**
   * Finds the facts of a rank.
   *
   * @param rank the rank; negative if the worker chooses
   * @param receiver receives the facts, or null if they cannot be had, on the loop, at once or
   *     later
   */
  void find(FleetWorker worker, int rank, EventLoop loop, Consumer<@Nullable PeerFacts> receiver) {
    Known now = known.get(worker);
    if (now != null && now.lives == worker.lives()) {
      receiver.accept(of(now, rank));
      return;
    }
    Waiting waiting = new Waiting(rank, loop, receiver);
    switch (worker.spec().disagg().dialect()) {
      case NIXL, BOOTSTRAP -> receiver.accept(PeerFacts.NONE);
      case NIXL_PUSH -> {
        String engine = worker.spec().disagg().engineId(Math.max(0, rank));
        receiver.accept(engine == null ? null : new PeerFacts(engine, Map.of()));
      }
      case MOONCAKE -> {
        URI url = URI.create(worker.spec().disagg().bootstrapUrl());
        Upstream server = bootstraps.computeIfAbsent(url, connect);
        ask(server, QUERY, worker, waiting, PeerDirectory::engines);
      }
      case TRTLLM -> ask(worker.upstream(), SERVER_INFO, worker, waiting, PeerDirectory::context);
    }
  }

  private static @Nullable PeerFacts of(Known known, int rank) {
    PeerFacts every = known.ranks.get(-1);
    return every != null ? every : known.ranks.get(Math.max(0, rank));
  }

  private static Map<Integer, PeerFacts> context(JsonNode answer) {
    JsonNode params = answer.path("disaggregated_params");
    Map<String, Object> fields = new HashMap<>();
    if (params.isObject()) {
      fields.putAll(JSON.convertValue(params, MAP));
      fields.keySet().retainAll(OF_REQUESTS);
      fields.values().removeIf(value -> value == null || List.of().equals(value));
    }
    return Map.of(-1, new PeerFacts("", fields));
  }

  private static Map<Integer, PeerFacts> engines(JsonNode answer) {
    Map<Integer, PeerFacts> ranks = new HashMap<>();
    answer
        .properties()
        .forEach(
            each -> {
              JsonNode engine = each.getValue().path("engine_id");
              if (engine.isTextual() && each.getKey().matches("[0-9]{1,4}")) {
                ranks.put(
                    Integer.valueOf(each.getKey()), new PeerFacts(engine.textValue(), Map.of()));
              }
            });
    return ranks;
  }

  /** Asks an engine, unless it is being asked: its answer is for all that wait. */
  private void ask(
      Upstream upstream, String target, FleetWorker worker, Waiting waiting, Reader reader) {
    synchronized (asked) {
      List<Waiting> others = asked.get(worker);
      if (others != null) {
        others.add(waiting);
        return;
      }
      asked.put(worker, new ArrayList<>(List.of(waiting)));
    }
    long lives = worker.lives();
    try {
      EngineQuestion.get(
          upstream,
          target,
          waiting.loop,
          MAX_BYTES,
          timeoutMs,
          (status, body) -> answer(worker, read(lives, status, body, reader)));
    } catch (RuntimeException e) {
      LOG.error("worker {} could not be asked for its transfers", worker.name(), e);
      answer(worker, null);
    }
  }

  private static @Nullable Known read(long lives, int status, byte[] body, Reader reader) {
    try {
      return status == 200 ? new Known(lives, reader.read(JSON.readTree(body))) : null;
    } catch (IOException | RuntimeException e) {
      LOG.debug("an answer about transfers cannot be read", e);
      return null;
    }
  }

  private void answer(FleetWorker worker, @Nullable Known answered) {
    List<Waiting> waiting;
    synchronized (asked) {
      if (answered != null && !worker.membership().hasLeft()) {
        known.put(worker, answered);
      }
      waiting = asked.getOrDefault(worker, List.of());
      asked.remove(worker);
    }
    for (Waiting each : waiting) {
      PeerFacts facts = answered == null ? null : of(answered, each.rank);
      try {
        each.loop.execute(() -> each.receiver.accept(facts));
      } catch (RejectedExecutionException e) {
        LOG.debug("the event loop of a request has ended", e);
      }
    }
  }

  /** A transfer from a worker has failed: its engine is asked again. Or the worker has left. */
  void forget(FleetWorker worker) {
    known.remove(worker);
    DisaggSpec spec = worker.spec().disagg();
    if (worker.membership().hasLeft()
        && spec.dialect() == DisaggDialect.MOONCAKE
        && known.keySet().stream().noneMatch(each -> isAt(each, spec.bootstrapUrl()))) {
      Upstream server = bootstraps.remove(URI.create(spec.bootstrapUrl()));
      if (server != null) {
        server.close();
      }
    }
  }

  private static boolean isAt(FleetWorker worker, String bootstrapUrl) {
    return worker.spec().disagg().bootstrapUrl().equals(bootstrapUrl);
  }

  @Override
  public void close() {
    bootstraps.values().forEach(Upstream::close);
  }
}
