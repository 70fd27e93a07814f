package io.kvasir.simulator.fleet;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.legs.Leg;
import io.kvasir.fleet.router.legs.LegRates;
import io.kvasir.fleet.router.legs.WholeOrApart;
import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import io.kvasir.simulator.workload.Arrivals;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.TreeMap;
import java.util.function.IntConsumer;
import java.util.function.IntToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Two fleets under a router each: the prefill workers, whose indices come first, compute prompts,
 * and the decode workers generate the answers from their KV.
 *
 * <p>A request goes to a prefill worker, unless {@link WholeOrApart} leaves it to a decode worker.
 * When its prompt is computed, a decode worker is chosen, which needs room for the KV that it
 * lacks. The prefill rank keeps the blocks until the transfer ends, and so does the prefill
 * router's booking. Then the decode worker stores them and runs the request. As with NIXL, the
 * token that the prefill worker computes is not the client's: the first token is that of the decode
 * worker.
 *
 * <p>Confined to the thread that drives the replay. Owns the routers.
 */
public final class ApartFleet implements FleetLayer {

  private final ApartSettings settings;
  private final RoutedFleet prefills;
  private final RoutedFleet decodes;
  private final IntToLongFunction transferNs;
  private final WholeOrApart rule;
  private final DelayedEvents steps = new DelayedEvents();
  private final Long2ObjectOpenHashMap<Flow> flows = new Long2ObjectOpenHashMap<>();

  /** Requests that wait for room for their KV, at each decode worker, first come first served. */
  private final List<Queue<Flow>> crowded = new ArrayList<>();

  private final List<Outcome> ready = new ArrayList<>();
  private final IntArrayList changed = new IntArrayList();
  private final Map<String, Long> local = new TreeMap<>();
  private @Nullable KvWorkers kv;
  private long transfers;
  private long sumTransferNs;
  private long longestTransferNs;
  private long movedTokens;
  private long neededTokens;
  private long routedNs;

  /** A request on its way. */
  private static final class Flow {
    final HashedRequest request;
    Leg leg = Leg.PREFILL;
    int prefillWorker;
    int decodeWorker;
    boolean sent;
    long computedNs;

    /** As its decode worker receives it; null until one is chosen. */
    @Nullable HashedRequest atDecode;

    Flow(HashedRequest request) {
      this.request = request;
    }
  }

  /**
   * Makes a layer over two fleets.
   *
   * @param settings the workers
   * @param prefills the prefill workers; owned
   * @param decodes the decode workers; owned
   * @param transferNs the time of a transfer by its tokens
   */
  public ApartFleet(
      ApartSettings settings,
      RoutedFleet prefills,
      RoutedFleet decodes,
      IntToLongFunction transferNs) {
    this.settings = settings;
    this.prefills = prefills;
    this.decodes = decodes;
    this.transferNs = transferNs;
    for (int i = 0; i < decodes.workers(); i++) {
      crowded.add(new ArrayDeque<>());
    }
    this.rule =
        new WholeOrApart(
            prefills.router(),
            decodes.router(),
            settings.maxLocalPrefillTokens(),
            new LegRates(() -> routedNs));
  }

  /**
   * Connects the workers. To be called once, before the first request.
   *
   * @param workers their pools
   */
  public void connect(KvWorkers workers) {
    kv = workers;
  }

  private KvWorkers kv() {
    return Objects.requireNonNull(kv, "kv");
  }

  /**
   * {@return whether a worker's block events are read}
   *
   * @param worker its index
   */
  public boolean followsBlocks(int worker) {
    return (prefills(worker) ? prefills : decodes).followsBlocks();
  }

  /**
   * {@return whether a worker computes prompts for others}
   *
   * @param worker its index
   */
  public boolean prefills(int worker) {
    return worker < prefills.workers();
  }

  @Override
  public int workers() {
    return prefills.workers() + decodes.workers();
  }

  @Override
  public boolean followsBlocks() {
    return prefills.followsBlocks() || decodes.followsBlocks();
  }

  // ---- choices --------------------------------------------------------------------------------

  @Override
  public @Nullable Routed route(HashedRequest hashed, long nowNs) {
    Flow flow = new Flow(hashed);
    flows.put(hashed.request().id(), flow);
    routedNs = nowNs;
    prefills.catchUp(nowNs);
    decodes.catchUp(nowNs);
    HashedRequest prompt = prompt(hashed);
    String reason =
        rule.reason(
            prefills.describe(prompt, Leg.PREFILL, FleetRequest.NO_WORKER), decodeSide(hashed));
    rule.decided(reason);
    if (reason != null) {
      flow.leg = Leg.WHOLE;
      flow.sent = true;
      local.merge(reason, 1L, Long::sum);
      Routed routed = decodes.route(hashed, Leg.WHOLE, FleetRequest.NO_WORKER, nowNs);
      return routed == null ? null : atDecode(routed);
    }
    Routed routed = prefills.route(prompt, Leg.PREFILL, FleetRequest.NO_WORKER, nowNs);
    return routed == null ? null : atPrefill(flow, routed);
  }

  /** The part of a request that a prefill worker computes. */
  private static HashedRequest prompt(HashedRequest whole) {
    return new HashedRequest(whole.request().toBuilder().maxNewTokens(1).build(), whole.hashes());
  }

  private WholeOrApart.DecodeSide decodeSide(HashedRequest hashed) {
    return new WholeOrApart.DecodeSide() {
      @Override
      public FleetRequest request(Leg leg, long prefilledBy) {
        return decodes.describe(hashed, leg, prefilledBy);
      }

      @Override
      public long mostMatchedTokens() {
        return kv().mostMatchedTokens(hashed);
      }
    };
  }

  private Routed atDecode(Routed routed) {
    return new Routed(prefills.workers() + routed.worker(), routed.request());
  }

  private static Routed atPrefill(Flow flow, Routed routed) {
    flow.prefillWorker = routed.worker();
    return routed;
  }

  @Override
  public List<Outcome> outcomes(long nowNs) {
    steps.runUntil(nowNs);
    for (Outcome outcome : prefills.outcomes(nowNs)) {
      Flow flow = flows.get(outcome.request().id());
      Routed routed = outcome.routed();
      ready.add(
          new Outcome(
              flow.request.request(),
              routed == null ? null : atPrefill(flow, routed),
              outcome.reason()));
    }
    for (Outcome outcome : decodes.outcomes(nowNs)) {
      Flow flow = flows.get(outcome.request().id());
      Routed routed = outcome.routed();
      if (routed == null) {
        endTransfer(flow, nowNs);
        ready.add(outcome);
      } else if (flow.leg == Leg.WHOLE) {
        ready.add(new Outcome(outcome.request(), atDecode(routed), ""));
      } else {
        onDecodeChosen(flow, routed, nowNs);
      }
    }
    crowded.forEach(queue -> beginAll(queue, nowNs));
    List<Outcome> settled = List.copyOf(ready);
    ready.clear();
    return settled;
  }

  @Override
  public long nextNs() {
    return Math.min(steps.nextNs(), Math.min(prefills.nextNs(), decodes.nextNs()));
  }

  @Override
  public void changed(IntConsumer receiver) {
    changed.forEach(receiver);
    changed.clear();
  }

  // ---- transfers ------------------------------------------------------------------------------

  /**
   * A prefill worker has computed a prompt.
   *
   * @param requestId the request
   * @param atNs the time, which may be later than now
   */
  public void onComputed(long requestId, long atNs) {
    Flow flow = flows.get(requestId);
    if (flow.leg == Leg.PREFILL && flow.computedNs == 0) {
      flow.computedNs = atNs;
      steps.add(atNs, () -> chooseDecode(flow));
    }
  }

  private void chooseDecode(Flow flow) {
    Request request = flow.request.request();
    flow.leg = Leg.DECODE;
    prefills.onPromptComputed(request, flow.computedNs);
    kv().endTransferAt(flow.prefillWorker, request.id(), Arrivals.NEVER);
    changed.add(flow.prefillWorker);
    Routed routed = decodes.route(flow.request, Leg.DECODE, flow.prefillWorker, flow.computedNs);
    if (routed != null) {
      onDecodeChosen(flow, routed, flow.computedNs);
    }
  }

  private void onDecodeChosen(Flow flow, Routed routed, long nowNs) {
    flow.decodeWorker = routed.worker();
    flow.atDecode = routed.request();
    Queue<Flow> queue = crowded.get(flow.decodeWorker);
    queue.add(flow);
    if (queue.size() == 1) {
      beginAll(queue, nowNs);
    }
  }

  /** Begins transfers in order, up to the first that has no room. */
  private void beginAll(Queue<Flow> queue, long nowNs) {
    while (!queue.isEmpty() && begin(queue.peek(), nowNs)) {
      queue.remove();
    }
  }

  /** Begins a transfer; false if the decode worker has no room for it now. */
  private boolean begin(Flow flow, long nowNs) {
    KvWorkers.Room room =
        kv().reserve(flow.decodeWorker, Objects.requireNonNull(flow.atDecode, "atDecode"));
    if (room == null) {
      return false;
    }
    flow.atDecode = room.request();
    long endNs = nowNs + transferNs.applyAsLong(room.missingTokens());
    transfers++;
    sumTransferNs += endNs - flow.computedNs;
    longestTransferNs = Math.max(longestTransferNs, endNs - flow.computedNs);
    movedTokens += room.missingTokens();
    neededTokens += flow.request.request().promptTokens();
    endTransfer(flow, endNs);
    steps.add(endNs, () -> arrive(flow, room.request(), endNs));
    return true;
  }

  private void endTransfer(Flow flow, long endNs) {
    if (flow.leg == Leg.DECODE) {
      kv().endTransferAt(flow.prefillWorker, flow.request.request().id(), endNs);
      changed.add(flow.prefillWorker);
    }
  }

  private void arrive(Flow flow, HashedRequest atDecode, long nowNs) {
    kv().store(flow.decodeWorker, flow.request.request().id(), nowNs);
    Routed routed = atDecode(new Routed(flow.decodeWorker, atDecode));
    ready.add(new Outcome(flow.request.request(), routed, ""));
  }

  /**
   * The transfer of a request has ended, as its prefill worker sees it.
   *
   * @param request the request
   * @param atNs the time
   */
  public void onSent(Request request, long atNs) {
    prefills.onEnded(request, true, atNs);
    Flow flow = flows.get(request.id());
    if (flow != null) {
      flow.sent = true;
    }
  }

  // ---- events of requests and workers ---------------------------------------------------------

  /**
   * {@return whether the decode worker computes a request's prompt}
   *
   * @param requestId the request
   */
  public boolean isWhole(long requestId) {
    return flows.get(requestId).leg == Leg.WHOLE;
  }

  /**
   * {@return a request with all of its answer}
   *
   * @param part the request, or the part of it that a prefill worker computes
   */
  public Request whole(Request part) {
    return flows.get(part.id()).request.request();
  }

  @Override
  public void onToken(Request request, int index, long atNs) {
    decodes.onToken(request, index, atNs);
  }

  @Override
  public void onEnded(Request request, boolean success, long atNs) {
    Flow flow = flows.remove(request.id());
    if (!flow.sent && flow.leg == Leg.PREFILL) {
      prefills.onEnded(request, success, atNs);
    } else {
      decodes.onEnded(request, success, atNs);
    }
  }

  @Override
  public void onIterated(int worker, IteratedWorker ran, long endNs) {
    if (prefills(worker)) {
      prefills.onIterated(worker, ran, endNs);
    } else {
      decodes.onIterated(worker - prefills.workers(), ran, endNs);
    }
  }

  @Override
  public FleetResult result() {
    return prefills.result();
  }

  @Override
  public ApartResult apart() {
    return new ApartResult(
        settings,
        decodes.result(),
        Map.copyOf(local),
        transfers,
        sumTransferNs,
        longestTransferNs,
        movedTokens,
        neededTokens);
  }

  @Override
  public void close() {
    try (prefills;
        decodes) {
      flows.clear();
    }
  }
}
