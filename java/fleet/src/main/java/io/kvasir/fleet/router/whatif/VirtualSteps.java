package io.kvasir.fleet.router.whatif;

import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.model.RankId;
import io.kvasir.timing.StepModel;
import io.kvasir.timing.StepWork;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * When the requests of one policy would have their first tokens and end: the steps of its virtual
 * ranks, as far as time has passed. Ranks of a worker step together; a step computes waiting
 * prompts in their order, as far as its tokens and the pool's blocks go, and a token of each
 * answer. It takes the time of a {@link StepModel}, which learns from the actual first tokens. From
 * its first token to its end, a request takes as long as the actual one.
 *
 * <p>A request ends at the actual end at the earliest, and without a first token if it waits for
 * five minutes longer. Not thread-safe. A step costs O(ranks of the worker); steps that only decode
 * are taken together.
 */
final class VirtualSteps {

  /** Learns of the events of each worker in the order of time. */
  interface Listener {
    void onFirstToken(long attempt, long atNs);

    void onTokens(long attempt, int tokens, long atNs);

    void onEnd(long attempt, boolean success, long atNs);
  }

  /** No time. */
  static final long UNKNOWN = Long.MIN_VALUE;

  private static final long DEFAULT_STEP_TOKENS = 8_192;
  private static final long PATIENCE_NS = 300_000_000_000L;

  /** Prompts that wait at a rank; others are not followed. */
  private static final int MOST_WAITING = 4_096;

  private static final double NS_PER_MS = 1e6;

  private static final class Rank {
    final ArrayDeque<Stay> waiting = new ArrayDeque<>();
    long waitingTokens;
    long capacityTokens;
    long stepTokens;
    long runningTokens; // of sequences
    long ownTokens; // of them, without prefixes that the rank held
    int decoding;
    boolean removed;
  }

  private static final class Worker {
    final TreeMap<RankId, Rank> ranks = new TreeMap<>();
    final List<Stay> computed = new ArrayList<>(); // in the step that runs
    final StepWork work; // of the rank that takes longest
    final PriorityQueue<Stay> ends =
        new PriorityQueue<>(
            Comparator.<Stay>comparingLong(stay -> stay.endNs)
                .thenComparingLong(stay -> stay.attempt));
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
    final boolean streams;
    final int uncached;
    final boolean behindOthers; // so that its time says less
    final @Nullable StepWork work; // of the steps from its start, to learn from
    long tokens;
    long own;
    long left;
    int unreported;
    long startNs = UNKNOWN;
    long firstNs = UNKNOWN;
    long actualFirstNs = UNKNOWN;
    long actualEndNs = UNKNOWN;
    long runNs;
    long endNs = UNKNOWN;
    boolean success;

    Stay(
        long attempt,
        Worker worker,
        Rank rank,
        long arrivedNs,
        boolean streams,
        int tokens,
        int uncached,
        @Nullable StepWork work) {
      this.attempt = attempt;
      this.worker = worker;
      this.rank = rank;
      this.arrivedNs = arrivedNs;
      this.streams = streams;
      this.tokens = tokens;
      this.uncached = uncached;
      this.own = uncached;
      this.left = uncached;
      this.behindOthers = !rank.waiting.isEmpty();
      this.work = work;
    }
  }

  private final int tokensPerBlock;
  private final StepModel model;
  private final boolean learns;
  private final Listener listener;
  private final StepWork work; // reused
  private final TreeMap<Long, Worker> workers = new TreeMap<>();
  private final Long2ObjectOpenHashMap<Stay> stays = new Long2ObjectOpenHashMap<>();
  private final FirstTokens firstTokens = new FirstTokens();

  /**
   * Begins without ranks.
   *
   * @param learns whether the placements are the actual ones, so that the model learns from them
   */
  VirtualSteps(int tokensPerBlock, StepModel model, boolean learns, Listener listener) {
    this.tokensPerBlock = tokensPerBlock;
    this.model = model;
    this.learns = learns;
    this.listener = listener;
    this.work = model.newWork();
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
    Rank rank = worker == null ? null : worker.ranks.remove(id);
    if (worker == null || rank == null) {
      return;
    }
    rank.removed = true;
    List<Stay> ending = new ArrayList<>(rank.waiting);
    ending.addAll(worker.computed);
    ending.addAll(worker.ends);
    ending.removeIf(stay -> stay.rank != rank || stay.actualEndNs == UNKNOWN);
    rank.waiting.clear();
    worker.computed.removeIf(stay -> stay.rank == rank);
    worker.ends.removeAll(ending);
    ending.forEach(stay -> end(stay, stay.actualEndNs));
    if (worker.ranks.isEmpty()) {
      workers.remove(id.workerId());
    }
  }

  /**
   * A request is placed.
   *
   * @param rank the rank, or any of a worker's: the one with the least to compute
   * @param arrivedNs when it arrived
   * @param tokens of its prompt
   * @param uncached those of them that are to be computed, at least 1
   * @param streams whether the actual request's tokens are told when they come
   */
  void placed(
      long attempt,
      RankId rank,
      long arrivedNs,
      long nowNs,
      int tokens,
      int uncached,
      boolean streams) {
    Worker worker = workers.get(rank.workerId());
    Rank on = worker == null ? null : rank.isAny() ? leastWaiting(worker) : worker.ranks.get(rank);
    if (worker == null || on == null || on.waiting.size() >= MOST_WAITING) {
      return;
    }
    advance(worker, nowNs);
    StepWork own = learns && streams ? model.newWork() : null;
    Stay stay = new Stay(attempt, worker, on, arrivedNs, streams, tokens, uncached, own);
    stays.put(attempt, stay);
    on.waiting.add(stay);
    on.waitingTokens += uncached;
    worker.decodesOnly = false; // the step after this one computes it
    if (worker.stepEndNs == UNKNOWN) {
      begin(worker, nowNs);
    }
  }

  private static @Nullable Rank leastWaiting(Worker worker) {
    Rank least = null;
    for (Rank rank : worker.ranks.values()) {
      if (least == null
          || rank.waitingTokens + rank.decoding < least.waitingTokens + least.decoding) {
        least = rank;
      }
    }
    return least;
  }

  /**
   * The actual request has got tokens.
   *
   * @param tokens their number; 0 if its prompt is computed, and nothing else is known
   * @return whether the request is followed
   */
  boolean onActualTokens(long attempt, long nowNs, int tokens) {
    Stay stay = stays.get(attempt);
    if (stay == null) {
      return false;
    }
    advance(stay.worker, nowNs);
    if (stay.actualFirstNs == UNKNOWN && (stay.streams || tokens == 0)) {
      stay.actualFirstNs = nowNs;
      learn(stay);
    }
    stay.unreported += tokens;
    report(stay, nowNs);
    return true;
  }

  private void report(Stay stay, long atNs) {
    if (stay.firstNs != UNKNOWN && stay.endNs == UNKNOWN && stay.unreported > 0) {
      stay.tokens += stay.unreported;
      stay.own += stay.unreported;
      stay.rank.runningTokens += stay.unreported;
      stay.rank.ownTokens += stay.unreported;
      listener.onTokens(stay.attempt, stay.unreported, atNs);
      stay.unreported = 0;
    }
  }

  /** When a request has had its first token; {@link #UNKNOWN} if it has not, or is not followed. */
  long firstNs(long attempt, long nowNs) {
    Stay stay = stays.get(attempt);
    if (stay == null) {
      return UNKNOWN;
    }
    advance(stay.worker, nowNs);
    return stay.firstNs;
  }

  /**
   * The actual request has ended. Further calls have no effect.
   *
   * @param firstNs when it had its first token, if that was not told; {@link #UNKNOWN} if not known
   * @return whether the request is followed
   */
  boolean onActualEnd(long attempt, long nowNs, boolean success, long firstNs) {
    Stay stay = stays.get(attempt);
    if (stay == null || stay.actualEndNs != UNKNOWN) {
      return stay != null;
    }
    advance(stay.worker, nowNs);
    stay.success = success;
    stay.actualEndNs = nowNs;
    long began = stay.actualFirstNs != UNKNOWN ? stay.actualFirstNs : firstNs;
    stay.runNs = began == UNKNOWN ? 0 : Math.max(0, nowNs - began);
    if (stay.rank.removed) {
      end(stay, nowNs);
    } else if (success) {
      endLater(stay);
      endUntil(stay.worker, nowNs);
    } else {
      if (stay.firstNs == UNKNOWN) {
        giveUp(stay);
      } else {
        stay.rank.decoding--;
      }
      end(stay, nowNs);
    }
    return true;
  }

  private static void giveUp(Stay stay) {
    if (stay.rank.waiting.remove(stay)) {
      stay.rank.waitingTokens -= stay.left;
    }
    stay.worker.computed.remove(stay);
  }

  private static void endLater(Stay stay) {
    if (stay.firstNs != UNKNOWN && stay.actualEndNs != UNKNOWN) {
      stay.endNs = stay.firstNs + stay.runNs;
      stay.worker.ends.add(stay);
    }
  }

  private void endUntil(Worker worker, long nowNs) {
    for (Stay stay = worker.ends.peek();
        stay != null && stay.endNs <= nowNs;
        stay = worker.ends.peek()) {
      worker.ends.remove();
      stay.rank.decoding--;
      end(stay, Math.max(stay.endNs, stay.actualEndNs));
    }
  }

  private void end(Stay stay, long atNs) {
    stays.remove(stay.attempt);
    if (stay.startNs != UNKNOWN) {
      stay.rank.runningTokens -= stay.tokens;
      stay.rank.ownTokens -= stay.own;
    }
    listener.onEnd(stay.attempt, stay.success, atNs);
  }

  /** Lets time pass for all workers. */
  void advance(long nowNs) {
    for (Worker worker : workers.values()) {
      advance(worker, nowNs);
    }
  }

  private void advance(Worker worker, long nowNs) {
    while (worker.stepEndNs != UNKNOWN && worker.stepEndNs <= nowNs) {
      long atNs = worker.stepEndNs;
      if (worker.decodesOnly) { // many alike, until an end makes room
        Stay next = worker.ends.peek();
        long untilNs = next == null ? nowNs : Math.max(atNs, Math.min(nowNs, next.endNs));
        long stepNs = Math.max(1, Math.round(worker.stepMs * NS_PER_MS));
        atNs += (untilNs - atNs) / stepNs * stepNs;
      }
      for (Stay stay : worker.computed) {
        first(stay, atNs);
      }
      worker.computed.clear();
      endUntil(worker, atNs);
      begin(worker, atNs);
    }
    endUntil(worker, nowNs);
  }

  private void first(Stay stay, long atNs) {
    stay.firstNs = atNs;
    stay.rank.decoding++;
    firstTokens.add((atNs - stay.arrivedNs) / NS_PER_MS);
    listener.onFirstToken(stay.attempt, atNs);
    learn(stay);
    report(stay, atNs);
    endLater(stay);
  }

  /** The actual first token says how long steps take, or at most take. */
  private void learn(Stay stay) {
    if (stay.work == null || stay.actualFirstNs == UNKNOWN) {
      return;
    }
    if (stay.firstNs != UNKNOWN && !stay.behindOthers && stay.actualFirstNs > stay.startNs) {
      model.learn(stay.work, (stay.actualFirstNs - stay.startNs) / NS_PER_MS);
    } else if (stay.firstNs == UNKNOWN && stay.actualFirstNs > stay.arrivedNs) {
      double atMostMs = (stay.actualFirstNs - stay.arrivedNs) / NS_PER_MS;
      long steps = (stay.uncached + stay.rank.stepTokens - 1) / stay.rank.stepTokens;
      work.clear();
      work.addPrompt(stay.uncached, stay.tokens - stay.uncached);
      work.addSteps((int) steps);
      if (model.ms(work) > atMostMs) {
        model.learn(work, atMostMs);
      }
    }
  }

  private void begin(Worker worker, long atNs) {
    worker.stepMs = 0;
    worker.work.clear();
    List<Stay> inStep = new ArrayList<>();
    for (Rank rank : worker.ranks.values()) {
      work.clear();
      fill(worker, rank, atNs, inStep);
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
    for (Stay stay : inStep) {
      if (stay.work != null) {
        stay.work.add(worker.work);
      }
    }
    worker.decodesOnly = inStep.isEmpty();
    worker.stepEndNs =
        worker.stepMs == 0 ? UNKNOWN : atNs + Math.max(1, Math.round(worker.stepMs * NS_PER_MS));
  }

  /** Takes what a rank computes in a step of its waiting prompts, and adds it to the work. */
  private void fill(Worker worker, Rank rank, long atNs, List<Stay> inStep) {
    long budget = rank.stepTokens;
    while (budget > 0 && !rank.waiting.isEmpty()) {
      Stay stay = rank.waiting.element();
      if (stay.actualEndNs != UNKNOWN && atNs - stay.actualEndNs > PATIENCE_NS) {
        giveUp(stay);
        firstTokens.add((atNs - stay.arrivedNs) / NS_PER_MS);
        end(stay, atNs);
        continue;
      }
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
      rank.waitingTokens -= now;
      budget -= now;
      inStep.add(stay);
      if (stay.left == 0) {
        worker.computed.add(rank.waiting.remove());
      }
    }
    if (budget < rank.stepTokens) {
      work.addSteps(1);
    }
  }
}
