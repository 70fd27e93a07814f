package io.kvasir.gateway.route;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.exchange.EngineFlavor;
import io.kvasir.exchange.Upstream;
import io.kvasir.gateway.worker.ModelList;
import io.kvasir.gateway.worker.Steering;
import io.kvasir.gateway.worker.SteeringTable;
import io.kvasir.gateway.worker.WorkerFacts;
import io.kvasir.gateway.worker.WorkerProfile;
import io.kvasir.gateway.worker.WorkerRole;
import io.kvasir.gateway.worker.WorkerSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A worker of the gateway: where its requests go, and whether it can take any.
 *
 * <p>Thread-safe.
 */
public final class FleetWorker {

  private final int id;
  private final String name;
  private final WorkerSpec spec;
  private final Upstream upstream;
  private final @Nullable Renderer renderer;
  private final Breaker breaker;
  private final Membership membership;
  private final AtomicInteger recoveries = new AtomicInteger();
  private final AtomicLong eventRestarts = new AtomicLong();
  private final FailuresInRow failures;
  private volatile WorkerHealth health = WorkerHealth.UNREACHABLE;
  private volatile String problem = "it has not been asked yet";
  private volatile boolean answered;
  private volatile boolean answering;
  private volatile Set<String> models = Set.of();
  private volatile Map<String, JsonNode> listed = Map.of();
  private volatile WorkerFacts facts = WorkerFacts.NONE;
  private volatile WorkerProfile profile;
  private volatile boolean steerable = true;
  private volatile boolean tokensDoubted;

  /** How its engine names itself against what is stated, in words; empty for no contradiction. */
  private volatile String otherFlavor = "";

  /** Tokens of a block by the events, where nothing else says it; 0 if unknown. */
  private volatile int blockSizeOfEvents;

  /**
   * Creates a worker that is not healthy yet.
   *
   * @param id its number in this gateway, from 0
   * @param name its name in logs and metrics
   * @param spec what its operator states
   * @param upstream where its requests go
   * @param renderer makes the tokens of its requests; null if only itself does
   * @param breaker keeps requests away while it fails
   */
  public FleetWorker(
      int id,
      String name,
      WorkerSpec spec,
      Upstream upstream,
      @Nullable Renderer renderer,
      Breaker breaker) {
    this.renderer = renderer;
    this.id = id;
    this.name = name;
    this.failures = new FailuresInRow(name);
    this.spec = spec;
    this.membership = new Membership(spec.weight());
    this.profile = describe(WorkerFacts.NONE);
    this.upstream = upstream;
    this.breaker = breaker;
  }

  /** {@return the number in this gateway, from 0} */
  public int id() {
    return id;
  }

  /** {@return the name in logs and metrics} */
  public String name() {
    return name;
  }

  /** {@return the kind of engine} */
  public EngineFlavor flavor() {
    return spec.flavor();
  }

  /**
   * {@return the kind of engine as reports name it; {@code kvasir} for a worker of this process}
   */
  public String engine() {
    return spec.isInProcess() ? "kvasir" : spec.flavor().id();
  }

  /** {@return what its operator states} */
  public WorkerSpec spec() {
    return spec;
  }

  /** {@return the part of requests that it serves} */
  public WorkerRole role() {
    return spec.disagg().role();
  }

  /** {@return whether it can serve a request without a worker of role prefill} */
  public boolean servesWhole() {
    return role() != WorkerRole.PREFILL && spec.disagg().decodesWhole();
  }

  /** {@return what its engine says, as of the last time that it answered questions about it} */
  public WorkerFacts facts() {
    return facts;
  }

  /**
   * {@return what its engine says about a model in its list, as of its last answer; null if it does
   * not list it}
   *
   * @param model the name that requests use
   */
  public @Nullable JsonNode listed(String model) {
    return listed.get(model);
  }

  /** The engine has listed its models. */
  void onListed(ModelList models) {
    listed = models.entries();
    EngineFlavor named = models.flavor();
    otherFlavor =
        named == null || named == spec.flavor() || spec.isInProcess()
            ? ""
            : "the engine is "
                + named.id()
                + " by owned_by in GET /v1/models, but flavor is "
                + spec.flavor().id()
                + ": give the worker flavor="
                + named.id()
                + ", or ranks, block size, events and tokens are asked for in the wrong way";
  }

  /** {@return where its description and its engine contradict each other, in words} */
  public List<String> contradictions() {
    List<String> all = new ArrayList<>(profile.problems());
    if (!otherFlavor.isEmpty()) {
      all.add(otherFlavor);
    }
    return all;
  }

  /** {@return what its operator states, completed by what its engine says} */
  public WorkerProfile profile() {
    return profile;
  }

  /**
   * {@return ranks that requests are placed on, at least 1: 1 if no request can name its rank and
   * nothing is known of what ranks hold}
   */
  public int routedRanks() {
    return routedRanks(profile);
  }

  private int routedRanks(WorkerProfile of) {
    return publishes(of)
            || SteeringTable.standard().steers(spec.flavor(), of.version(), of.balancing())
        ? of.ranks()
        : 1;
  }

  /** {@return whether block events of its ranks can be had} */
  public boolean publishes() {
    return publishes(profile);
  }

  private boolean publishes(WorkerProfile of) {
    return of.events() != null || spec.poll();
  }

  /**
   * {@return how requests to an endpoint name their rank}
   *
   * @param path the endpoint, for example {@code /v1/completions}
   */
  public Steering steering(String path) {
    if (!steerable) {
      return Steering.NONE;
    }
    WorkerProfile now = profile;
    return SteeringTable.standard().find(spec.flavor(), now.version(), path, now.balancing());
  }

  /**
   * {@return the header that names a request's conversation to it; null if it keeps no
   * conversations on their ranks}
   */
  public @Nullable String conversationHeader() {
    return spec.isInProcess() ? EngineFlavor.SESSION_ID : spec.flavor().conversationHeader();
  }

  /** {@return where its requests go} */
  public Upstream upstream() {
    return upstream;
  }

  /** {@return what makes the tokens of its requests; null if only itself does} */
  public @Nullable Renderer renderer() {
    return renderer;
  }

  /** {@return the breaker} */
  public Breaker breaker() {
    return breaker;
  }

  /** {@return whether the last health checks were good, or late while it answers requests} */
  public boolean healthy() {
    return health == WorkerHealth.GOOD;
  }

  /** {@return what the last health check found wrong, in words; empty if nothing} */
  public String problem() {
    return problem;
  }

  /** The last health check found something wrong, or nothing if the text is empty. */
  void problem(String found) {
    problem = found;
  }

  /** {@return whether it has been healthy since the gateway started} */
  public boolean hasAnswered() {
    return answered;
  }

  /**
   * {@return whether it may serve requests although its health checks are bad: it answers them
   * late, or with an error}
   */
  boolean mayServe() {
    return answered && health.mayServe();
  }

  /** The health checks are good. */
  void onHealthy() {
    answered = true;
    health = WorkerHealth.GOOD;
  }

  /** The health checks are bad. */
  void onUnhealthy(WorkerHealth found) {
    health = found;
  }

  /** A part of a good answer to a request has arrived: the engine works. */
  public void onAnswering() {
    if (!answering) { // written once between two checks
      answering = true;
    }
  }

  /** Whether it has answered requests since the last call. */
  boolean takeAnswering() {
    boolean now = answering;
    answering = false;
    return now;
  }

  /** {@return its requests that failed since one was served} */
  FailuresInRow failures() {
    return failures;
  }

  /** Its engine answers again after it did not; earlier observations can be wrong. */
  void onRecovered(long nowNs) {
    recoveries.incrementAndGet();
    membership.begin(nowNs);
  }

  /** {@return how often the worker has recovered; the first time that it answers counts} */
  public int recoveries() {
    return recoveries.get();
  }

  /** Its events have started over that often: its engine can have been started again. */
  void eventRestarts(long times) {
    eventRestarts.accumulateAndGet(times, Math::max);
  }

  /** {@return how often another engine can have begun behind its URL, as far as it was seen} */
  public long lives() {
    return recoveries.get() + eventRestarts.get();
  }

  /** {@return the models that the worker serves, as of the last health check} */
  public Set<String> models() {
    return models;
  }

  /**
   * Whether other facts change the ranks that requests are placed on, or where events come from.
   */
  boolean regroupedBy(WorkerFacts now) {
    WorkerProfile other = WorkerProfile.of(spec, now);
    return routedRanks(other) != routedRanks()
        || !Objects.equals(other.events(), profile.events())
        || !other.forwardPasses().equals(profile.forwardPasses());
  }

  /** Its events contradict the tokens that were used, or no longer. */
  void tokensDoubted(boolean now) {
    tokensDoubted = now;
  }

  /** {@return whether the engine's events contradict the tokens that were used} */
  public boolean tokensDoubted() {
    return tokensDoubted;
  }

  /** Names ranks in requests from now on, or no longer because the engine ignores it. */
  void steerable(boolean now) {
    steerable = now;
  }

  void serves(Set<String> served, WorkerFacts now) {
    models = Set.copyOf(served);
    facts = now;
    profile = describe(now);
  }

  private WorkerProfile describe(WorkerFacts now) {
    WorkerProfile described = WorkerProfile.of(spec, now);
    return described.blockSize() == 0 && blockSizeOfEvents > 0
        ? described.withBlockSize(blockSizeOfEvents)
        : described;
  }

  /** Whether its operator or its engine has stated the tokens of a block. */
  boolean statesBlockSize() {
    return spec.blockSize() > 0 || facts.blockSize() > 0;
  }

  /** Its events have blocks of this size. It counts where nothing else says it. */
  void blockSizeOfEvents(int tokens) {
    blockSizeOfEvents = tokens;
    profile = describe(facts);
  }

  /** {@return whether it belongs to the gateway, and takes new requests} */
  public Membership membership() {
    return membership;
  }

  /**
   * Whether requests may be sent to the worker.
   *
   * @param panics whether few workers of its fleet are left; see {@link Ejection#panics}
   * @param nowNs the current time, in nanoseconds
   * @return true if it is able to serve them and no operator keeps them away
   */
  public boolean takes(boolean panics, long nowNs) {
    return !membership.cordoned() && serves(panics, nowNs);
  }

  /**
   * Whether the worker is able to serve requests, such as those that no other worker can serve.
   *
   * @param panics whether few workers of its fleet are left; see {@link Ejection#panics}
   * @param nowNs the current time, in nanoseconds
   * @return true if it is healthy and its breaker admits a request. Where few workers are left, a
   *     healthy one takes requests in any case, and one whose health checks are late or fail takes
   *     them while its breaker admits them; one that accepts no connections or demands a key does
   *     not
   */
  public boolean serves(boolean panics, long nowNs) {
    if (membership.hasLeft()) {
      return false;
    }
    if (panics) {
      return healthy() || (mayServe() && breaker.admits(nowNs));
    }
    return healthy() && breaker.admits(nowNs);
  }
}
