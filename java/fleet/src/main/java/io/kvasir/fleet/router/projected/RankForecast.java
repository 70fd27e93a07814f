package io.kvasir.fleet.router.projected;

import io.kvasir.model.RankId;
import io.kvasir.timing.RankSpeed;
import io.kvasir.timing.StepModel;
import io.kvasir.timing.StepWork;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The requests that were placed on one rank: prompts in line, with the time that each is expected
 * to take, and requests that decode. It times what the rank does and teaches the model.
 *
 * <p>Not thread-safe.
 */
final class RankForecast {

  private static final Logger LOG = LoggerFactory.getLogger(RankForecast.class);

  private static final double NS_PER_MS = 1e6;

  /** Part of a prompt's expected time below which its end is that of the same step as another's. */
  private static final double SAME_STEP = 0.2;

  /** Part of its expected time that a prompt which takes longer is still expected to take. */
  private static final double LEAST_LEFT = 0.1;

  /**
   * Multiple of its expected time after which a prompt counts as computed; not all engines stream.
   */
  private static final double OVERDUE = 3;

  /** Tokens of one step where the rank's limit is unknown. */
  static final long DEFAULT_STEP_TOKENS = 8192;

  /** Time without an observation after which the speed of the rank is relaxed. */
  private static final long UNSEEN_NS = 30_000_000_000L;

  /** After so many times in a row, nothing is left to forget. */
  private static final int MOST_RELAXED = 16;

  /** Time between observations of decode steps. */
  private static final double DECODE_SAMPLE_MS = 50;

  final ExpectedTurns.Open open = new ExpectedTurns.Open();

  private final RankId rank;
  private final StepModel model;
  private final LoadEstimate load;
  private final ForecastInterval interval;
  private long maxTokens = DEFAULT_STEP_TOKENS;
  private final RankSpeed speed = new RankSpeed();
  private final Deque<Attempt> line = new ArrayDeque<>();

  /** Decoding requests with a target for the time between their tokens. */
  private final Set<Attempt> paced = new LinkedHashSet<>();

  private double lineMs;
  private long promptTokens;
  private int decoding;
  private long kvTokens;

  /* The prompts that ended last, in one step or several; an observation once another one ends. */
  private final StepWork ended;
  private long endedTokens;
  private int endedDecoding;
  private long endedKvTokens;
  private boolean confirmed;
  private long batch;
  private long beganNs;
  private long endedNs = Long.MIN_VALUE;
  private long decodedNs = Long.MIN_VALUE;
  private long seenNs;

  /** One placed request. */
  static final class Attempt {
    private final RankForecast rank;
    private final int uncached;
    private final int context;
    private final long placedNs;
    private final double expectedMs;
    private final double overdueMs;
    private final double firstTokenMs;
    private final double tpotMs;
    private final double outputTokens;
    private boolean inLine = true;
    private boolean decodes;
    private long batch;
    private long tokens;
    private long streamedTokens;
    private long firstNs;
    private boolean streams;
    private long lastNs;

    private Attempt(
        RankForecast rank,
        int uncached,
        int context,
        long placedNs,
        double expectedMs,
        double overdueMs,
        double firstTokenMs,
        double tpotMs,
        double outputTokens) {
      this.rank = rank;
      this.uncached = uncached;
      this.context = context;
      this.placedNs = placedNs;
      this.expectedMs = expectedMs;
      this.overdueMs = overdueMs;
      this.firstTokenMs = firstTokenMs;
      this.tpotMs = tpotMs;
      this.outputTokens = outputTokens;
    }

    RankForecast rank() {
      return rank;
    }

    /** Output tokens so far. */
    long streamedTokens() {
      return streamedTokens;
    }
  }

  /**
   * Begins without requests.
   *
   * @param rank the rank
   * @param model expects times, and learns
   * @param load adds up the times
   * @param interval compares expected and actual times of first tokens
   * @param nowNs the time
   */
  RankForecast(
      RankId rank, StepModel model, LoadEstimate load, ForecastInterval interval, long nowNs) {
    this.rank = rank;
    this.model = model;
    this.ended = model.newWork();
    this.load = load;
    this.interval = interval;
    this.seenNs = nowNs;
  }

  /** The tokens that the rank computes in one step at most are known, at least 1. */
  void limitStep(long tokens) {
    maxTokens = tokens;
  }

  /** Tokens to compute of all prompts without a first token, overdue ones included. */
  long promptTokens() {
    return promptTokens;
  }

  private int steps(long uncached) {
    return uncached <= maxTokens ? 1 : (int) ((uncached - 1) / maxTokens) + 1;
  }

  /** The time to compute a prompt, without those in line and decoding requests, in milliseconds. */
  double promptMs(long uncached, long context) {
    return speed.factor() * model.promptMs(uncached, context, steps(uncached));
  }

  /** The time that a rank of speed 1 would take for what takes some time here, in milliseconds. */
  double atSpeed1(double ms) {
    return ms / speed.factor();
  }

  /** What the decoding requests add to the time of a prompt, in milliseconds. */
  double interleavedMs(long uncached) {
    return decoding == 0 ? 0 : steps(uncached) * speed.factor() * model.decodeMs(kvTokens);
  }

  /** The time of a decode step if it read more KV, in milliseconds. */
  double stepMs(long moreTokens) {
    return speed.factor() * model.decodeMs(kvTokens + moreTokens);
  }

  /** The time until all prompts in line are expected to be computed, in milliseconds. */
  double queuedMs(long nowNs) {
    for (int times = 0; times < MOST_RELAXED && nowNs - seenNs > UNSEEN_NS; times++) {
      speed.relax();
      seenNs += UNSEEN_NS;
    }
    Attempt first = line.peekFirst();
    while (first != null && nowNs - first.placedNs > first.overdueMs * NS_PER_MS) {
      leaveLine(first);
      first = line.peekFirst();
    }
    if (first == null) {
      return 0;
    }
    double elapsedMs = (nowNs - Math.max(first.placedNs, endedNs)) / NS_PER_MS;
    double leftMs = Math.max(LEAST_LEFT * first.expectedMs, first.expectedMs - elapsedMs);
    return Math.max(0, lineMs - first.expectedMs) + leftMs;
  }

  /**
   * A request was placed.
   *
   * @param uncached its tokens to compute
   * @param context its tokens that need not be computed
   * @param firstTokenMs the expected time until its first token
   * @param tpotMs its target for the time between tokens; infinite for none
   * @param outputTokens the expected number of output tokens
   * @param nowNs the time
   */
  Attempt placed(
      int uncached,
      int context,
      double firstTokenMs,
      double tpotMs,
      double outputTokens,
      long nowNs) {
    double expectedMs = promptMs(uncached, context) + interleavedMs(uncached);
    double overdueMs = OVERDUE * (queuedMs(nowNs) + expectedMs);
    Attempt attempt =
        new Attempt(
            this,
            uncached,
            context,
            nowNs,
            expectedMs,
            overdueMs,
            firstTokenMs,
            tpotMs,
            outputTokens);
    line.addLast(attempt);
    lineMs += expectedMs;
    promptTokens += uncached;
    return attempt;
  }

  private void leaveLine(Attempt attempt) {
    if (attempt.inLine) {
      attempt.inLine = false;
      line.remove(attempt);
      lineMs = line.isEmpty() ? 0 : lineMs - attempt.expectedMs;
    }
  }

  /** Output tokens have streamed, or the prompt has been computed: 0 tokens. */
  void streamed(Attempt attempt, int tokens, long nowNs) {
    if (!attempt.decodes) {
      leaveLine(attempt);
      promptTokens -= attempt.uncached;
      promptEnded(attempt, nowNs);
      attempt.decodes = true;
      attempt.firstNs = nowNs;
      attempt.tokens = (long) attempt.uncached + attempt.context;
      kvTokens += attempt.tokens;
      decoding++;
      if (attempt.tpotMs < Double.POSITIVE_INFINITY) {
        paced.add(attempt);
      }
    } else {
      confirmed |= attempt.batch == batch && nowNs > endedNs;
      if (!attempt.streams && nowNs > attempt.firstNs) {
        attempt.streams = true;
        interval.learn(attempt.firstTokenMs, (attempt.firstNs - attempt.placedNs) / NS_PER_MS);
      }
      if (tokens == 1 && line.isEmpty()) {
        decoded(attempt, nowNs);
      }
    }
    attempt.tokens += tokens;
    attempt.streamedTokens += tokens;
    kvTokens += tokens;
    attempt.lastNs = nowNs;
  }

  /** Learns from a gap between two tokens in which no prompt was computed, now and then. */
  private void decoded(Attempt attempt, long nowNs) {
    if (decodedNs != Long.MIN_VALUE && nowNs - decodedNs < DECODE_SAMPLE_MS * NS_PER_MS) {
      return;
    }
    if (attempt.lastNs > endedNs) {
      StepWork work = model.newWork();
      work.addDecoding(1, kvTokens);
      learn(work, (nowNs - attempt.lastNs) / NS_PER_MS);
      seenNs = nowNs;
    }
    decodedNs = nowNs;
  }

  private void promptEnded(Attempt attempt, long nowNs) {
    boolean another =
        endedTokens == 0 || nowNs - endedNs > SAME_STEP * attempt.expectedMs * NS_PER_MS;
    if (another) {
      learn();
      batch++;
      beganNs = Math.max(attempt.placedNs, endedNs);
      endedDecoding = decoding;
      endedKvTokens = kvTokens;
    }
    attempt.batch = batch;
    ended.addPrompt(attempt.uncached, attempt.context);
    endedTokens += attempt.uncached;
    endedNs = nowNs;
  }

  /**
   * Learns from the prompts that ended last. An answer that came as a whole says nothing of the
   * time of its first token, so one of them must have streamed on since.
   */
  private void learn() {
    if (endedTokens > 0 && confirmed) {
      double ms = (endedNs - beganNs) / NS_PER_MS;
      int steps = steps(endedTokens);
      ended.addSteps(steps);
      ended.addDecoding(endedDecoding == 0 ? 0 : steps, endedKvTokens);
      learn(ended, ms);
      seenNs = Math.max(seenNs, endedNs);
      load.busy(ms);
    }
    ended.clear();
    endedTokens = 0;
    confirmed = false;
  }

  private void learn(StepWork work, double ms) {
    if (model.learn(work, ms, speed)) {
      LOG.info("Rank {} takes longer or shorter for its steps than it did", rank);
    }
  }

  /** An attempt has ended; returns the time since it was placed, in milliseconds. */
  double ended(Attempt attempt, long nowNs) {
    leaveLine(attempt);
    if (attempt.decodes) {
      decoding--;
      kvTokens -= attempt.tokens;
      paced.remove(attempt);
    } else {
      promptTokens -= attempt.uncached;
    }
    return (nowNs - attempt.placedNs) / NS_PER_MS;
  }

  /** The mean time between the tokens of an answer if the rank also reads more KV. */
  double tpotMs(long moreTokens) {
    return stepMs(moreTokens) / (1 - load.share());
  }

  /**
   * What computing a prompt takes from the decoding requests: the sum of the likelihoods to meet
   * their targets before, less that after. O(requests with such a target).
   *
   * @param ms the time to compute the prompt
   * @param nowNs the time
   */
  double lost(double ms, long nowNs) {
    double lost = 0;
    double paceMs = paced.isEmpty() ? 0 : tpotMs(0);
    for (Attempt attempt : paced) {
      double all = Math.max(attempt.streamedTokens + 1.0, attempt.outputTokens);
      double elapsedMs = (nowNs - attempt.firstNs) / NS_PER_MS;
      double meanMs = (elapsedMs + (all - attempt.streamedTokens) * paceMs) / all;
      lost +=
          interval.likelihood(meanMs, attempt.tpotMs)
              - interval.likelihood(meanMs + ms / all, attempt.tpotMs);
    }
    return lost;
  }
}
