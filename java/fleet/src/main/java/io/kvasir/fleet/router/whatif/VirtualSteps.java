package io.kvasir.fleet.router.whatif;

import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.model.RankId;
import io.kvasir.timing.StepModel;
import io.kvasir.timing.StepWork;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * When the requests of one policy would have their first tokens and end: the steps of its virtual
 * ranks, as far as time has passed. Ranks of a worker step together; a step computes waiting
 * prompts in their order, as far as its tokens and the pool's blocks go, and a token of each
 * answer. It takes the time of a {@link StepModel}, which learns from the actual first tokens.
 * After its first token, a request runs for as long as the actual one does.
 *
 * <p>Not thread-safe. O(log requests) for each event and O(ranks of the worker) for each step.
 */
final class VirtualSteps {

  /** Learns of what happens, in the order of time. */
  interface Listener {
    void onFirstToken(long attempt);

    void onTokens(long attempt, int tokens);

    void onEnd(long attempt, boolean success);
  }

  private static final long DEFAULT_STEP_TOKENS = 8_192;
  private static final double NS_PER_MS = 1e6;

  /** No time. */
  static final long UNKNOWN = Long.MIN_VALUE;

  private static final class Rank {
    final ArrayDeque<Stay> waiting = new ArrayDeque<>();
    long capacityTokens;
    long stepTokens;
    long runningTokens; // of sequences
    long ownTokens; // of them, without prefixes that the rank held
    int decoding;
  }

  private static final class Worker {
    final Map<RankId, Rank> ranks = new HashMap<>();
    final List<Stay> computed = new ArrayList<>(); // in the step that runs
    final StepWork work; // of the rank that takes longest
    long stepEndNs = UNKNOWN; // none runs
    boolean decodesOnly;
    double stepMs;

    Worker(StepWork work) {
      this.work = work;
    }
  }

  private static final class Stay {
    final long attempt;
    final Worker worker;
    final Rank rank;
    final long arrivedNs;
    long tokens;
    long own;
    long left;
    boolean behindOthers; // so that its time says less
    long startNs = UNKNOWN;
    final StepWork work; // of the steps from its start
    long firstNs = UNKNOWN;
    long actualFirstNs = UNKNOWN;
    long endNs = UNKNOWN;
    long actualEndNs = UNKNOWN;
    boolean success;
    int unreported;

    Stay(
        long attempt,
        Worker worker,
        Rank rank,
        long arrivedNs,
        long tokens,
        long left,
        StepWork work) {
      this.work = work;
      this.attempt = attempt;
      this.worker = worker;
      this.rank = rank;
      this.arrivedNs = arrivedNs;
      this.tokens = tokens;
      this.own = left;
      this.left = left;
    }
  }

  private final int tokensPerBlock;
  private final StepModel model;
  private final StepWork work; // reused
  private final boolean learns;
  private final Listener listener;
  private final Map<Long, Worker> workers = new HashMap<>();
  private final Long2ObjectOpenHashMap<Stay> stays = new Long2ObjectOpenHashMap<>();
  private final PriorityQueue<Stay> ends =
      new PriorityQueue<>(
          Comparator.<Stay>comparingLong(stay -> stay.endNs)
              .thenComparingLong(stay -> stay.attempt));
  private final FirstTokens firstTokens = new FirstTokens();

  /**
   * Begins without ranks.
   *
   * @param learns whether the placements are the actual ones, so that the model learns from them
   */
  VirtualSteps(int tokensPerBlock, StepModel model, boolean learns, Listener listener) {
    this.tokensPerBlock = tokensPerBlock;
    this.model = model;
    this.work = model.newWork();
    this.learns = learns;
    this.listener = listener;
  }

  FirstTokens firstTokens() {
    return firstTokens;
  }

  /** Adds a rank, or changes its capacity. */
  void add(RankId id, RankCapacity capacity) {
    Rank rank =
        workers
            .computeIfAbsent(id.workerId(), unused -> new Worker(model.newWork()))
            .ranks
            .computeIfAbsent(id, unused -> new Rank());
    rank.capacityTokens =
        capacity.totalKvBlocks() == 0 ? Long.MAX_VALUE : capacity.totalKvBlocks() * tokensPerBlock;
    rank.stepTokens =
        capacity.maxNumBatchedTokens() == 0 ? DEFAULT_STEP_TOKENS : capacity.maxNumBatchedTokens();
  }

  /** Removes a rank; its requests end with the actual ones. */
  void remove(RankId id) {
    Worker worker = workers.get(id.workerId());
    if (worker != null) {
      worker.ranks.remove(id);
    }
  }

  /**
   * A request is placed.
   *
   * @param rank the rank, or any of a worker's: the one with the least to compute
   * @param tokens of its prompt
   * @param uncached those of them that are to be computed, at least 1
   */
  void placed(long attempt, RankId rank, long nowNs, int tokens, int uncached) {
    Worker worker = workers.get(rank.workerId());
    Rank on = worker == null ? null : rank.isAny() ? leastWaiting(worker) : worker.ranks.get(rank);
    if (worker == null || on == null) {
      return;
    }
    advance(worker, nowNs);
    Stay stay = new Stay(attempt, worker, on, nowNs, tokens, uncached, model.newWork());
    stay.behindOthers = !on.waiting.isEmpty();
    stays.put(attempt, stay);
    on.waiting.add(stay);
    if (worker.stepEndNs == UNKNOWN) {
      begin(worker, nowNs);
    } else if (worker.decodesOnly) {
      worker.decodesOnly = false; // the step after this one computes it
    }
  }

  private static @Nullable Rank leastWaiting(Worker worker) {
    Rank least = null;
    long leastTokens = Long.MAX_VALUE;
    for (Rank rank : worker.ranks.values()) {
      long tokens = rank.waiting.stream().mapToLong(stay -> stay.left).sum() + rank.decoding;
      if (tokens < leastTokens) {
        least = rank;
        leastTokens = tokens;
      }
    }
    return least;
  }

  /** The actual request has got tokens, or its first one where {@code tokens} is 0. */
  void onActualTokens(long attempt, long nowNs, int tokens) {
    Stay stay = stays.get(attempt);
    if (stay == null) {
      return;
    }
    advance(stay.worker, nowNs);
    if (stay.actualFirstNs == UNKNOWN) {
      stay.actualFirstNs = nowNs;
      compare(stay);
    }
    stay.unreported += tokens;
    report(stay);
  }

  private void report(Stay stay) {
    if (stay.firstNs != UNKNOWN && stay.endNs == UNKNOWN && stay.unreported > 0) {
      stay.tokens += stay.unreported;
      stay.own += stay.unreported;
      stay.rank.runningTokens += stay.unreported;
      stay.rank.ownTokens += stay.unreported;
      listener.onTokens(stay.attempt, stay.unreported);
      stay.unreported = 0;
    }
  }

  /** When a request has had its first token; {@link #UNKNOWN} if it has not, or has ended. */
  long firstNs(long attempt) {
    Stay stay = stays.get(attempt);
    return stay == null ? UNKNOWN : stay.firstNs;
  }

  /**
   * The actual request has ended.
   *
   * @param firstNs when it had its first token, if that was not told; {@link #UNKNOWN} if not known
   */
  void onActualEnd(long attempt, long nowNs, boolean success, long firstNs) {
    Stay stay = stays.get(attempt);
    if (stay == null) {
      return;
    }
    advance(stay.worker, nowNs);
    stay.success = success;
    stay.actualEndNs = nowNs;
    if (stay.actualFirstNs == UNKNOWN) {
      stay.actualFirstNs = firstNs == UNKNOWN ? nowNs : firstNs;
    }
    if (success) {
      endLater(stay);
      endUntil(nowNs);
    } else {
      if (stay.firstNs == UNKNOWN) {
        stay.rank.waiting.remove(stay);
        stay.worker.computed.remove(stay);
      } else {
        stay.rank.decoding--;
      }
      end(stay);
    }
  }

  private void endLater(Stay stay) {
    if (stay.firstNs != UNKNOWN && stay.actualEndNs != UNKNOWN) {
      stay.endNs = stay.firstNs + Math.max(0, stay.actualEndNs - stay.actualFirstNs);
      ends.add(stay);
    }
  }

  private void endUntil(long nowNs) {
    for (Stay stay = ends.peek(); stay != null && stay.endNs <= nowNs; stay = ends.peek()) {
      ends.remove();
      stay.rank.decoding--;
      end(stay);
    }
  }

  private void end(Stay stay) {
    stays.remove(stay.attempt);
    if (stay.startNs != UNKNOWN) {
      stay.rank.runningTokens -= stay.tokens;
      stay.rank.ownTokens -= stay.own;
    }
    listener.onEnd(stay.attempt, stay.success);
  }

  /** Lets time pass for all workers. */
  void advance(long nowNs) {
    for (Worker worker : workers.values()) {
      advance(worker, nowNs);
    }
    endUntil(nowNs);
  }

  private void advance(Worker worker, long nowNs) {
    while (worker.stepEndNs != UNKNOWN && worker.stepEndNs <= nowNs) {
      long atNs = worker.stepEndNs;
      if (worker.decodesOnly) { // many alike
        long stepNs = Math.max(1, Math.round(worker.stepMs * NS_PER_MS));
        atNs += (nowNs - atNs) / stepNs * stepNs;
      }
      for (Stay stay : worker.computed) {
        first(stay, atNs);
      }
      worker.computed.clear();
      endUntil(atNs);
      begin(worker, atNs);
    }
  }

  private void first(Stay stay, long atNs) {
    stay.firstNs = atNs;
    stay.rank.decoding++;
    firstTokens.add((atNs - stay.arrivedNs) / NS_PER_MS);
    listener.onFirstToken(stay.attempt);
    compare(stay);
    report(stay);
    endLater(stay);
  }

  /** Where both are known, the actual first token says how long steps take. */
  private void compare(Stay stay) {
    if (!learns
        || stay.behindOthers
        || stay.firstNs == UNKNOWN
        || stay.actualFirstNs <= stay.startNs) {
      return;
    }
    model.learn(stay.work, (stay.actualFirstNs - stay.startNs) / NS_PER_MS);
  }

  private void begin(Worker worker, long atNs) {
    worker.stepMs = 0;
    worker.work.clear();
    worker.decodesOnly = true;
    List<Stay> started = new ArrayList<>();
    for (Rank rank : worker.ranks.values()) {
      work.clear();
      fill(worker, rank, atNs, started);
      if (rank.decoding > 0) {
        work.addDecoding(1, rank.runningTokens);
      }
      double ms = model.ms(work);
      if (ms > worker.stepMs) {
        worker.stepMs = ms;
        worker.work.clear();
        worker.work.add(work);
      }
    }
    for (Stay stay : started) {
      stay.work.add(worker.work);
    }
    worker.stepEndNs =
        worker.stepMs == 0 ? UNKNOWN : atNs + Math.max(1, Math.round(worker.stepMs * NS_PER_MS));
  }

  /** Takes what a rank computes in a step of its waiting prompts, and adds it to the work. */
  private void fill(Worker worker, Rank rank, long atNs, List<Stay> computed) {
    long budget = rank.stepTokens;
    while (budget > 0 && !rank.waiting.isEmpty()) {
      Stay stay = rank.waiting.element();
      if (stay.startNs == UNKNOWN) {
        if (rank.ownTokens > 0 && rank.ownTokens + stay.own > rank.capacityTokens) {
          break;
        }
        stay.startNs = atNs;
        rank.runningTokens += stay.tokens;
        rank.ownTokens += stay.own;
      }
      long now = Math.min(budget, stay.left);
      work.addPrompt(now, stay.tokens - stay.left);
      stay.left -= now;
      budget -= now;
      computed.add(stay);
      if (stay.left == 0) {
        worker.computed.add(rank.waiting.remove());
      }
    }
    if (budget < rank.stepTokens) {
      work.addSteps(1);
    }
    worker.decodesOnly &= budget == rank.stepTokens && rank.waiting.isEmpty();
  }
}
