package io.kvasir.fleet.router.whatif;

import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.model.RankId;
import io.kvasir.timing.StepModel;
import io.kvasir.timing.StepWork;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.TreeMap;

/**
 * When the requests of one policy would have their first tokens and end: the steps of its virtual
 * ranks, as far as time has passed. The steps of each {@link StepGroup} take the time of a {@link
 * StepModel}, which learns from the actual first tokens. From its first token to its end, a request
 * takes as long as the actual one.
 *
 * <p>A request ends at the actual end at the earliest: at once if the actual request fails, and
 * without a first token if it waits for five minutes longer. Requests of a removed rank run on to
 * their ends. Not thread-safe. A call costs O(1) until something happens, which costs O(workers).
 */
final class VirtualSteps {

  /** Receives the events of all workers in the order of time. */
  interface Listener {
    void onFirstToken(long attempt, long atNs);

    void onTokens(long attempt, int tokens, long atNs);

    void onEnd(long attempt, boolean success, long atNs);
  }

  /** No time. */
  static final long UNKNOWN = Long.MIN_VALUE;

  /** Prompts that wait at a rank; others are not followed. */
  private static final int MOST_WAITING = 4_096;

  /** By how much the expected time must exceed the longest possible one to be learned from it. */
  private static final double TOO_SLOW = 1.25;

  private static final double NS_PER_MS = 1e6;

  private final int tokensPerBlock;
  private final StepModel model;
  private final boolean learns;
  private final Listener listener;
  private final StepWork work; // reused
  private final TreeMap<Long, StepGroup> workers = new TreeMap<>();
  private final Long2ObjectOpenHashMap<Stay> stays = new Long2ObjectOpenHashMap<>();
  private final FirstTokenTimes firstTokens = new FirstTokenTimes();

  private final StepGroup.Progress progress =
      new StepGroup.Progress() {
        @Override
        public void onComputed(Stay stay, long atNs) {
          first(stay, atNs);
        }

        @Override
        public void onEnded(Stay stay, long atNs) {
          end(stay, atNs);
        }
      };

  /** Nothing happens before. */
  private long nextNs = StepGroup.NEVER;

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

  /**
   * Times to the first token. Requests that end without one count with the time that they waited,
   * unless the actual one had none either within five minutes.
   */
  FirstTokenTimes firstTokens() {
    return firstTokens;
  }

  /** Adds a rank, or changes its capacity. */
  void add(RankId id, RankCapacity capacity, long nowNs) {
    advance(nowNs);
    StepGroup worker =
        workers.computeIfAbsent(
            id.workerId(), unused -> new StepGroup(tokensPerBlock, model, progress));
    worker.add(id, capacity, nowNs);
    changed(worker);
  }

  /** Removes a rank, which gets no further requests. */
  void remove(RankId id, long nowNs) {
    advance(nowNs);
    StepGroup worker = workers.get(id.workerId());
    if (worker != null) {
      worker.remove(id);
      forgetIfEmpty(worker);
    }
  }

  private void forgetIfEmpty(StepGroup worker) {
    if (worker.isEmpty()) {
      workers.values().remove(worker);
    }
  }

  /**
   * A request is placed. It is not followed if its rank is unknown or has too many waiting prompts.
   *
   * @param rank the rank, or any of a worker's: the one with the least to compute
   * @param arrivedNs when it arrived
   * @param tokens of its prompt
   * @param uncached those of them that are to be computed, at least 1
   * @param streams whether the actual request's tokens are reported when they come
   */
  void placed(
      long attempt,
      RankId rank,
      long arrivedNs,
      long nowNs,
      int tokens,
      int uncached,
      boolean streams) {
    advance(nowNs);
    StepGroup worker = workers.get(rank.workerId());
    StepGroup.Rank on = worker == null ? null : worker.find(rank);
    if (worker == null || on == null) {
      return;
    }
    if (on.waiting() >= MOST_WAITING) {
      firstTokens.add((nowNs - on.oldestArrivalNs()) / NS_PER_MS); // or more
      return;
    }
    StepWork toLearnFrom = learns ? model.newWork() : null;
    Stay stay = new Stay(attempt, worker, on, arrivedNs, tokens, uncached, streams, toLearnFrom);
    stays.put(attempt, stay);
    worker.place(stay, nowNs);
    changed(worker);
  }

  private void changed(StepGroup worker) {
    nextNs = Math.min(nextNs, worker.nextNs());
  }

  /**
   * The actual request has got tokens.
   *
   * @param tokens their number; 0 if its prompt is computed, and nothing else is known
   * @return whether the request is followed
   */
  boolean onActualTokens(long attempt, long nowNs, int tokens) {
    advance(nowNs);
    Stay stay = stays.get(attempt);
    if (stay == null) {
      return false;
    }
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
      int tokens = stay.unreported;
      stay.unreported = 0;
      stay.group.grow(stay, tokens);
      listener.onTokens(stay.attempt, tokens, atNs);
    }
  }

  /** When a request has had its first token; {@link #UNKNOWN} if it has not, or is not followed. */
  long firstNs(long attempt, long nowNs) {
    advance(nowNs);
    Stay stay = stays.get(attempt);
    return stay == null ? UNKNOWN : stay.firstNs;
  }

  /**
   * The actual request has ended. Further calls have no effect.
   *
   * @param firstNs when it had its first token, if that was not reported; {@link #UNKNOWN} if not
   *     known
   * @return whether the request is followed
   */
  boolean onActualEnd(long attempt, long nowNs, boolean success, long firstNs) {
    advance(nowNs);
    Stay stay = stays.get(attempt);
    if (stay == null || stay.actualEndNs != UNKNOWN) {
      return stay != null;
    }
    stay.success = success;
    stay.actualEndNs = nowNs;
    learn(stay);
    long began = stay.actualFirstNs != UNKNOWN ? stay.actualFirstNs : firstNs;
    stay.runNs = began == UNKNOWN ? 0 : Math.max(0, nowNs - began);
    if (success) {
      stay.group.endLater(stay, nowNs);
    } else {
      stay.group.endNow(stay, nowNs);
    }
    changed(stay.group);
    advance(nowNs);
    return true;
  }

  /** Lets time pass. */
  void advance(long nowNs) {
    while (nextNs <= nowNs) {
      StepGroup first = null;
      for (StepGroup worker : workers.values()) {
        if (first == null || worker.nextNs() < first.nextNs()) {
          first = worker;
        }
      }
      nextNs = first == null ? StepGroup.NEVER : first.nextNs();
      if (first != null && nextNs <= nowNs) {
        first.happen();
        changed(first);
      }
    }
  }

  private void first(Stay stay, long atNs) {
    firstTokens.add((atNs - stay.arrivedNs) / NS_PER_MS);
    listener.onFirstToken(stay.attempt, atNs);
    learn(stay);
    report(stay, atNs);
  }

  private void end(Stay stay, long atNs) {
    stays.remove(stay.attempt);
    long waitedNs = atNs - stay.arrivedNs;
    boolean counts =
        stay.success || stay.actualFirstNs != UNKNOWN || waitedNs >= StepGroup.PATIENCE_NS;
    if (stay.firstNs == UNKNOWN && counts) {
      firstTokens.add(waitedNs / NS_PER_MS); // or more
    }
    forgetIfEmpty(stay.group);
    listener.onEnd(stay.attempt, stay.success, atNs);
  }

  /**
   * Learns how long steps take, once from each request: when both first tokens have come; or when
   * the actual one has come alone, or the whole answer, if the steps were expected to take clearly
   * longer than all of that. Each actual token that is merely earlier than the virtual one would
   * pull times down.
   */
  private void learn(Stay stay) {
    long actualNs = stay.actualFirstNs;
    if (actualNs == UNKNOWN && stay.success) {
      actualNs = stay.actualEndNs; // at the latest
    }
    if (stay.work == null || stay.learned || actualNs == UNKNOWN) {
      return;
    }
    if (stay.firstNs != UNKNOWN) {
      stay.learned = true;
      if (stay.streams && stay.actualFirstNs > stay.startNs && !stay.waited) {
        model.learn(stay.work, (stay.actualFirstNs - stay.startNs) / NS_PER_MS);
      }
      return;
    }
    double atMostMs = (actualNs - stay.arrivedNs) / NS_PER_MS;
    long stepTokens = stay.rank.stepTokens();
    work.clear();
    work.addPrompt(stay.uncached, stay.tokens - stay.uncached);
    work.addSteps((int) ((stay.uncached + stepTokens - 1) / stepTokens));
    if (atMostMs > 0 && model.ms(work) > TOO_SLOW * atMostMs) {
      stay.learned = true;
      model.learn(work, atMostMs);
    }
  }
}
