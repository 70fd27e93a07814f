package io.kvasir.fleet.router.trtllm;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.router.CandidateCost;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.Reason;
import io.kvasir.fleet.router.Refusal;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.fleet.router.WorkerRouter;
import io.kvasir.hash.TrtllmHash;
import io.kvasir.model.RankId;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Takes the worker that holds most of a request's blocks, minus its load.
 *
 * <p>Thread-safe. A choice costs O(tokens) to hash the prompt, without the lock, and O(workers x
 * matched blocks) to compare it. Bounded: {@link #MAX_BLOCKS} blocks for each worker and naming,
 * {@link #MAX_PINS} pinned prefixes, {@code max_sessions} conversations.
 */
public final class KvCacheAwareFleetRouter extends WorkerRouter<CachingWorker> {

  /*
   * score(worker) = matched blocks - load weight x active requests; the highest wins, equal ones
   * take turns. Workers at or above the load cap are candidates only if all are.
   *
   * A chat goes where the last chat with the same first two messages went, if that worker is a
   * candidate; otherwise the score decides and the prefix is pinned to the winner.
   *
   * A worker holds what its events say and what it has served. Where events are missing or cannot
   * be used, routed requests alone must do; otherwise routing would silently decay to the least
   * loaded worker. Both are advisory, and blocks are not checked against their parents: a wrong
   * entry costs a detour, not a wrong answer.
   *
   * Prompts are hashed before the lock is taken, in every naming that a candidate used at that
   * time; a worker that changes its naming in between matches nothing this once.
   */

  /** Blocks remembered for each worker and naming. */
  public static final int MAX_BLOCKS = 1 << 20;

  /** Prefixes of chats whose worker is remembered. */
  public static final int MAX_PINS = 50_000;

  /** Name of the policy. */
  static final String NAME = "kv_cache_aware";

  private final KvCacheAwareRouterOptions options;
  private final int maxBlocks;
  private final RecentMap<Long, CachingWorker> pins = new RecentMap<>(MAX_PINS);
  private final RecentMap<String, Boolean> seen;
  private int tokensPerBlock;

  /** What was known of a candidate when the request was placed. */
  private record Candidate(CachingWorker worker, int matchedBlocks, long load) {}

  /**
   * Makes a router without workers.
   *
   * @param options settings
   */
  public KvCacheAwareFleetRouter(KvCacheAwareRouterOptions options) {
    this(options, MAX_BLOCKS);
  }

  KvCacheAwareFleetRouter(KvCacheAwareRouterOptions options, int maxBlocks) {
    this.options = options;
    this.maxBlocks = maxBlocks;
    this.seen = new RecentMap<>(options.maxSessions());
    this.tokensPerBlock = options.tokensPerBlock();
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public boolean readsTokens(FleetRequest request) {
    return request.tokens() == null;
  }

  @Override
  protected CachingWorker newWorker(long workerId) {
    return new CachingWorker(workerId, maxBlocks);
  }

  @Override
  public RouteOutcome route(FleetRequest request) {
    RankFilter filter = request.filter();
    int blockSize;
    Set<TrtllmHash> hashes = EnumSet.noneOf(TrtllmHash.class);
    synchronized (lock()) {
      List<CachingWorker> workers = candidates(filter);
      if (workers.isEmpty()) {
        return noCandidate(filter);
      }
      workers.forEach(worker -> hashes.add(worker.blocks().hash()));
      blockSize = blockSize();
    }
    if (request.tokens() == null) {
      return new RouteOutcome.Refused(
          Refusal.UNSUPPORTED_REQUEST, "kv_cache_aware needs the tokens of the prompt");
    }
    PromptKeys keys = PromptKeys.of(request, blockSize, hashes);
    Long prefix = AffinityKey.of(request);
    String conversationId = request.conversationId();
    List<Candidate> known;
    Candidate winner = null;
    Reason reason = Reason.PINNED;
    boolean firstTurn;
    long attempt;
    synchronized (lock()) {
      known =
          candidates(filter).stream()
              .map(one -> new Candidate(one, one.blocks().matchedBlocks(keys), one.load()))
              .toList();
      if (known.isEmpty()) {
        return noCandidate(filter);
      }
      List<Candidate> allowed = belowCap(known);
      if (prefix != null) {
        winner = find(allowed, pins.get(prefix));
      }
      if (winner == null) {
        reason = Reason.SCORE;
        winner = cheapest(filter, allowed, one -> -score(one));
      } else {
        takeTurn(); // as upstream, whose counter moves with every choice
      }
      CachingWorker worker = winner.worker();
      if (prefix != null) {
        pins.put(prefix, worker);
      }
      firstTurn = conversationId != null && seen.put(conversationId, true) == null;
      attempt = book(worker, 1, options.trackRoutedBlocks() ? () -> onServed(worker, keys) : null);
    }
    return new RouteOutcome.Placed(
        new Placement(
            attempt,
            winner.worker().id(),
            reasonFor(request, reason),
            conversationId,
            firstTurn,
            winner.matchedBlocks(),
            blockSize,
            known.size(),
            0,
            Double.NaN,
            terms(winner),
            known.stream().map(this::cost).toList()));
  }

  private static @Nullable Candidate find(
      List<Candidate> candidates, @Nullable CachingWorker worker) {
    for (Candidate candidate : candidates) {
      if (candidate.worker() == worker) {
        return candidate;
      }
    }
    return null;
  }

  private double score(Candidate candidate) {
    return candidate.matchedBlocks() - options.loadWeight() * candidate.load();
  }

  /** They add up to the negated score. */
  private Map<String, Double> terms(Candidate candidate) {
    Map<String, Double> terms = new LinkedHashMap<>();
    terms.put("match", (double) -candidate.matchedBlocks());
    terms.put("load", options.loadWeight() * candidate.load());
    return terms;
  }

  private CandidateCost cost(Candidate candidate) {
    return new CandidateCost(
        candidate.worker().id(),
        candidate.matchedBlocks(),
        0,
        0,
        0,
        Math.toIntExact(candidate.load()),
        terms(candidate),
        null);
  }

  private List<Candidate> belowCap(List<Candidate> candidates) {
    List<Candidate> below =
        candidates.stream()
            .filter(one -> (double) one.load() / options.maxBatchSize() < options.loadCap())
            .toList();
    return below.isEmpty() ? candidates : below;
  }

  /** Under the lock. */
  private void onServed(CachingWorker worker, PromptKeys keys) {
    if (keys.tokensPerBlock() == blockSize()) {
      TrtllmHash hash = worker.blocks().hash();
      keys.of(hash).forEach(prompt -> worker.blocks().add(hash, prompt));
    }
  }

  /**
   * Adopts a worker's block size and naming. A block size that was not configured is adopted from
   * the first worker that gives one. If a worker's size divides, or is divided by, the router's,
   * the worker's events are ignored from now on, and only routed requests count.
   *
   * @param workerId the worker's id
   * @param description its description; missing parts are taken to agree, with a warning for the
   *     naming
   * @throws IllegalStateException if its blocks cannot be followed. The worker stays a candidate by
   *     load and routed requests; its events are ignored
   * @throws IllegalArgumentException if the worker is unknown
   */
  public void prepare(long workerId, ServerDescription description) {
    synchronized (lock()) {
      CachingWorker worker = require(workerId);
      worker.prepared(false, false);
      Preparation agreed = Preparation.of(description, tokensPerBlock);
      agreed.warn(worker.id(), description);
      tokensPerBlock = agreed.tokensPerBlock();
      worker.blocks().nameBy(agreed.hash());
      worker.prepared(true, agreed.followsEvents());
    }
  }

  /**
   * Refuses what {@link #prepare} refuses, and changes nothing.
   *
   * @param workerId the worker's id
   * @param description its description
   * @throws IllegalStateException if its blocks cannot be followed
   * @throws IllegalArgumentException if the worker is unknown
   */
  public void requireFollowable(long workerId, ServerDescription description) {
    synchronized (lock()) {
      require(workerId);
      Preparation.of(description, tokensPerBlock);
    }
  }

  /**
   * Applies an event to the worker's blocks, whichever rank it is from. Events of unknown workers
   * are ignored, and those of workers whose blocks have another size, see {@link #prepare}.
   * O(blocks in the event).
   *
   * @throws IllegalArgumentException if the event gives local hashes, or a naming that is not
   *     TensorRT-LLM's
   */
  @Override
  public void onBlocks(RankId rank, BlockEvent event) {
    synchronized (lock()) {
      CachingWorker worker = worker(rank.workerId());
      if (worker != null && worker.usesEvents()) {
        worker.blocks().apply(event);
      }
    }
  }

  /** Whether a worker's blocks can be followed, see {@link #prepare}. */
  boolean ready(long workerId) {
    synchronized (lock()) {
      return require(workerId).ready();
    }
  }

  /** Whether a worker's events are applied, see {@link #prepare}. */
  boolean usesEvents(long workerId) {
    synchronized (lock()) {
      return require(workerId).usesEvents();
    }
  }

  /** Blocks that a worker is expected to hold. */
  long blockCount(long workerId) {
    synchronized (lock()) {
      return require(workerId).blocks().size();
    }
  }

  private int blockSize() {
    return tokensPerBlock == 0
        ? KvCacheAwareRouterOptions.DEFAULT_TOKENS_PER_BLOCK
        : tokensPerBlock;
  }

  private CachingWorker require(long workerId) {
    CachingWorker worker = worker(workerId);
    if (worker == null) {
      throw new IllegalArgumentException(
          "worker " + Long.toUnsignedString(workerId) + " is unknown");
    }
    return worker;
  }
}
