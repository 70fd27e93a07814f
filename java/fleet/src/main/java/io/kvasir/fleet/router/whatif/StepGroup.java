package io.kvasir.fleet.router.whatif;

import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.model.RankId;
import io.kvasir.timing.StepModel;
import io.kvasir.timing.StepWork;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The virtual ranks of one worker, which step together. A step computes the waiting prompts of each
 * rank in their order, as far as its tokens and the pool's blocks go, and a token of each answer;
 * it takes as long as the rank with the most work. Not thread-safe. A step costs O(ranks), and
 * steps that only decode cost nothing until something else happens.
 */
final class StepGroup {

  /** Receives what happens, in the order of time. */
  interface Progress {
    /** A prompt is computed. */
    void onComputed(Stay stay, long atNs);

    /** A request ends: its rank no longer holds it. */
    void onEnded(Stay stay, long atNs);
  }

  /** A time after all others. */
  static final long NEVER = Long.MAX_VALUE;

  private static final long DEFAULT_STEP_TOKENS = 8_192;

  /** A request whose actual one has ended is given up if it waits for longer. */
  static final long PATIENCE_NS = 300_000_000_000L;

  private static final double NS_PER_MS = 1e6;

  /** A rank's queue and what its sequences hold. */
  static final class Rank {
    private final RankId id;
    private final ArrayDeque<Stay> waiting = new ArrayDeque<>();
    private boolean removed;
    private long capacityTokens;
    private long stepTokens;
    private long waitingTokens;
    private long heldTokens; // of all sequences
    private long ownTokens; // of them, without prefixes that the rank held
    private int started; // sequences that hold tokens
    private int decoding;

    private Rank(RankId id) {
      this.id = id;
    }

    /** Tokens of a prompt that one step computes at most. */
    long stepTokens() {
      return stepTokens;
    }

    int waiting() {
      return waiting.size();
    }

    /** When the prompt arrived that waits longest. */
    long oldestArrivalNs() {
      return waiting.element().arrivedNs;
    }
  }

  private final int tokensPerBlock;
  private final StepModel model;
  private final Progress progress;
  private final StepWork longest; // of the rank that takes longest
  private final StepWork work; // of one rank, reused
  private final TreeMap<RankId, Rank> ranks = new TreeMap<>();
  private final List<Stay> inStep = new ArrayList<>();
  private final ArrayDeque<Stay> computed = new ArrayDeque<>(); // once the step ends
  private final PriorityQueue<Stay> ends =
      new PriorityQueue<>(
          Comparator.<Stay>comparingLong(stay -> stay.endNs)
              .thenComparingLong(stay -> stay.attempt));

  private long stepEndNs = NEVER; // none runs
  private double stepMs;
  private boolean decodesOnly; // until something else happens
  private long patienceEndsNs = NEVER; // of a prompt that waits for blocks

  StepGroup(int tokensPerBlock, StepModel model, Progress progress) {
    this.tokensPerBlock = tokensPerBlock;
    this.model = model;
    this.progress = progress;
    this.longest = model.newWork();
    this.work = model.newWork();
  }

  /** Adds a rank, or changes its capacity. */
  void add(RankId id, RankCapacity capacity, long nowNs) {
    Rank rank = ranks.computeIfAbsent(id, Rank::new);
    rank.removed = false;
    rank.capacityTokens =
        capacity.totalKvBlocks() == 0 ? Long.MAX_VALUE : capacity.totalKvBlocks() * tokensPerBlock;
    rank.stepTokens =
        capacity.maxNumBatchedTokens() == 0 ? DEFAULT_STEP_TOKENS : capacity.maxNumBatchedTokens();
    wake(nowNs); // a prompt may have room now
  }

  /** Removes a rank, once the requests that it has are over. */
  void remove(RankId id) {
    Rank rank = ranks.get(id);
    if (rank != null) {
      rank.removed = true;
      forgetIfIdle(rank);
    }
  }

  private void forgetIfIdle(Rank rank) {
    if (rank.removed && rank.started == 0 && rank.waiting.isEmpty()) {
      ranks.remove(rank.id);
    }
  }

  boolean isEmpty() {
    return ranks.isEmpty();
  }

  /** A rank that takes requests, for any of the worker's the one with the least to do, or null. */
  @Nullable Rank find(RankId id) {
    Rank found = null;
    for (Rank rank : ranks.values()) {
      if (!rank.removed
          && (id.isAny() || rank.id.equals(id))
          && (found == null || toDo(rank) < toDo(found))) {
        found = rank;
      }
    }
    return found;
  }

  private static long toDo(Rank rank) {
    return rank.waitingTokens + rank.started;
  }

  /** A request joins the queue of its rank. */
  void place(Stay stay, long nowNs) {
    stay.waited = !stay.rank.waiting.isEmpty();
    stay.rank.waiting.add(stay);
    stay.rank.waitingTokens += stay.left;
    wake(nowNs);
    if (stepEndNs == NEVER) {
      begin(nowNs);
    }
  }

  /** The answer of a request that has its first token has grown. */
  void grow(Stay stay, int tokens) {
    stay.tokens += tokens;
    stay.ownTokens += tokens;
    stay.rank.heldTokens += tokens;
    stay.rank.ownTokens += tokens;
  }

  /** A request that has its first token ends at its time; one that waits may be given up. */
  void endLater(Stay stay, long nowNs) {
    if (stay.firstNs != VirtualSteps.UNKNOWN) {
      stay.endNs = Math.max(stay.firstNs + stay.runNs, stay.actualEndNs);
      ends.add(stay);
    } else {
      wake(nowNs);
    }
  }

  /** A request ends now, whatever it is doing. */
  void endNow(Stay stay, long nowNs) {
    if (stay.rank.waiting.remove(stay)) {
      stay.rank.waitingTokens -= stay.left;
    }
    computed.remove(stay);
    wake(nowNs);
    leave(stay, nowNs);
  }

  private void leave(Stay stay, long atNs) {
    if (stay.startNs != VirtualSteps.UNKNOWN) {
      stay.rank.heldTokens -= stay.tokens;
      stay.rank.ownTokens -= stay.ownTokens;
      stay.rank.started--;
    }
    if (stay.firstNs != VirtualSteps.UNKNOWN) {
      stay.rank.decoding--;
    }
    forgetIfIdle(stay.rank);
    progress.onEnded(stay, atNs);
  }

  /** When something happens next that others can see; {@link #NEVER} if nothing does by itself. */
  long nextNs() {
    long stepNs = decodesOnly ? patienceEndsNs : stepEndNs;
    return ends.isEmpty() ? stepNs : Math.min(stepNs, ends.element().endNs);
  }

  /** Lets happen what happens at {@link #nextNs}. */
  void happen() {
    long atNs = nextNs();
    if (!ends.isEmpty() && ends.element().endNs == atNs) {
      wake(atNs);
      leave(ends.remove(), atNs);
    } else if (decodesOnly) {
      wake(atNs);
    } else {
      while (!computed.isEmpty()) {
        Stay stay = computed.remove();
        stay.firstNs = atNs;
        stay.rank.decoding++;
        progress.onComputed(stay, atNs);
        if (stay.actualEndNs != VirtualSteps.UNKNOWN) {
          endLater(stay, atNs);
        }
      }
      begin(atNs);
    }
  }

  /** The step after the one that runs now is another one. */
  private void wake(long nowNs) {
    if (decodesOnly && stepEndNs <= nowNs) { // many alike are over
      long stepNs = stepNs();
      stepEndNs += ((nowNs - stepEndNs) / stepNs + 1) * stepNs;
    }
    decodesOnly = false;
  }

  private long stepNs() {
    return Math.max(1, Math.round(stepMs * NS_PER_MS));
  }

  private void begin(long atNs) {
    stepMs = 0;
    longest.clear();
    inStep.clear();
    patienceEndsNs = NEVER;
    for (Rank rank : List.copyOf(ranks.values())) { // those that give up their last are removed
      work.clear();
      fill(rank, atNs);
      if (rank.decoding > 0) {
        work.addDecoding(1, rank.heldTokens);
      }
      double ms = model.ms(work);
      if (ms > stepMs) {
        stepMs = ms;
        longest.clear();
        longest.add(work);
      }
    }
    for (Stay stay : inStep) {
      if (stay.work != null) {
        stay.work.add(longest);
      }
    }
    stepEndNs = stepMs == 0 ? NEVER : atNs + stepNs();
    decodesOnly = stepMs > 0 && inStep.isEmpty();
  }

  /** Takes what a rank computes in a step of its waiting prompts, and adds it to the work. */
  private void fill(Rank rank, long atNs) {
    long budget = rank.stepTokens;
    while (budget > 0 && !rank.waiting.isEmpty()) {
      Stay stay = rank.waiting.element();
      if (patienceEndsNs(stay) <= atNs) {
        rank.waiting.remove();
        rank.waitingTokens -= stay.left;
        leave(stay, atNs);
        continue;
      }
      if (stay.startNs == VirtualSteps.UNKNOWN) {
        if (rank.ownTokens > 0 && rank.ownTokens + stay.ownTokens > rank.capacityTokens) {
          stay.waited = true;
          patienceEndsNs = Math.min(patienceEndsNs, patienceEndsNs(stay));
          break;
        }
        stay.startNs = atNs;
        rank.heldTokens += stay.tokens;
        rank.ownTokens += stay.ownTokens;
        rank.started++;
      }
      long now = Math.min(budget, stay.left);
      work.addPrompt(now, stay.tokens - stay.left);
      stay.left -= now;
      rank.waitingTokens -= now;
      budget -= now;
      inStep.add(stay);
      if (stay.left == 0) {
        computed.add(rank.waiting.remove());
      }
    }
    if (budget < rank.stepTokens) {
      work.addSteps(1);
    }
  }

  private static long patienceEndsNs(Stay stay) {
    return stay.actualEndNs == VirtualSteps.UNKNOWN ? NEVER : stay.actualEndNs + PATIENCE_NS;
  }
}
