package io.kvasir.fleet.router.projected;

import io.kvasir.model.RankId;
import io.kvasir.timing.ForwardPass;
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
  static final double LEAST_LEFT = 0.1;

  /**
   * Multiple of its expected time after which a prompt counts as computed; not all engines stream.
   */
  private static final double OVERDUE = 3;

  /** Tokens of one step where the rank's limit is unknown. */
  static final long DEFAULT_STEP_TOKENS = 8192;

  /** Time after the last reported step for which the engine counts as reporting. */
  private static final long REPORTS_NS = 10_000_000_000L;

  /** Part of a step's time from which that of another rank of the engine is nearly as long. */
  private static final double NEAR_TIE = 0.9;

  /** Time between observations of decode steps. */
  private static final double DECODE_SAMPLE_MS = 50;

  /** Steps that are looked at, at most. */
  private static final int MOST_STEPS = 32;

  final ExpectedTurns.Open open = new ExpectedTurns.Open();

  private final RankId rank;
  private final EngineRanks engine;
  private final RankSpeed speed;
  private final StepModel model;
  private final LoadEstimate load;
  private final ForecastInterval interval;
  private long maxTokens = DEFAULT_STEP_TOKENS;
  private final Deque<Attempt> line = new ArrayDeque<>();

  /** Decoding requests with a target for the time between their tokens. */
  private final Set<Attempt> paced = new LinkedHashSet<>();

  private double lineMs;
  private long lineTokens;
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

  /* The last step that the engine reported: when, and how long it should have taken. */
  private long passedNs = Long.MIN_VALUE;
  private double passMs;

  /**
   * Begins without requests.
   *
   * @param rank the rank
   * @param model expects times, and learns
   * @param load adds up the times
   * @param interval compares expected and actual times of first tokens
   * @param engine the ranks of its engine, to which it is not added
   */
  RankForecast(
      RankId rank,
      StepModel model,
      LoadEstimate load,
      ForecastInterval interval,
      EngineRanks engine) {
    this.engine = engine;
    this.speed = engine.speed();
    this.rank = rank;
    this.model = model;
    this.ended = model.newWork();
    this.load = load;
    this.interval = interval;
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
    engine.relaxUnseen(nowNs);
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
   * The time until a prompt is computed that is placed now, with what the other ranks of the engine
   * add to the steps. O(ranks of the engine).
   *
   * @param uncached its tokens to compute
   * @param computeMs the rank's own time for it
   * @param nowNs the time
   */
  double togetherMs(long uncached, double computeMs, long nowNs) {
    int steps = Math.min(MOST_STEPS, steps(lineTokens + uncached));
    return engine.togetherMs(this, steps, (lineMs + computeMs) / steps, nowNs);
  }

  /** The rank's own time for prompts in one of the next steps, counted from the one in progress. */
  double lineStepMs(int step) {
    int steps = Math.min(MOST_STEPS, steps(Math.max(1, lineTokens)));
    return step < steps ? lineMs / steps : 0;
  }

  /** When the first prompt in line was placed; the largest number if there is none. */
  long lineBeganNs() {
    return line.isEmpty() ? Long.MAX_VALUE : line.getFirst().placedNs;
  }

  /** When the last prompt ended. */
  long endedNs() {
    return endedNs;
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
    double overdueMs = OVERDUE * Math.max(firstTokenMs, queuedMs(nowNs) + expectedMs);
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
    lineTokens += uncached;
    promptTokens += uncached;
    return attempt;
  }

  private void leaveLine(Attempt attempt) {
    if (attempt.inLine) {
      attempt.inLine = false;
      line.remove(attempt);
      lineMs = line.isEmpty() ? 0 : lineMs - attempt.expectedMs;
      lineTokens -= attempt.uncached;
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

  /** How long the last reported step should have taken; 0 if it was before a time. */
  double passMs(long sinceNs) {
    return passedNs >= sinceNs ? passMs : 0;
  }

  /**
   * Learns from a step that the engine reported. Where ranks of one engine step together, the step
   * takes as long as the slowest one's, so that only this one learns.
   *
   * @param pass the step
   * @param longestBesideMs the longest time that another rank of the engine should have taken
   * @param nowNs the time
   */
  void passed(ForwardPass pass, double longestBesideMs, long nowNs) {
    StepWork work = model.newWork();
    if (pass.prefillTokens() > 0) {
      work.addSteps(1);
      work.addPrefill(pass.prefillTokens(), pass.attendedPairs());
    }
    if (pass.decodingRequests() > 0) {
      work.addDecoding(1, pass.decodeKvTokens());
    }
    passedNs = nowNs;
    passMs = speed.factor() * model.ms(work);
    if (longestBesideMs < NEAR_TIE * passMs) {
      learn(work, pass.durationNs() / NS_PER_MS);
      engine.seen(nowNs);
    }
  }

  /** The ranks that step together with this one, and this one. */
  EngineRanks engine() {
    return engine;
  }

  /** Whether the engine reports its steps, which say more than the times of tokens. */
  private boolean reportsSteps(long nowNs) {
    return passedNs != Long.MIN_VALUE && nowNs - passedNs < REPORTS_NS;
  }

  /** Learns from a gap between two tokens in which no prompt was computed, now and then. */
  private void decoded(Attempt attempt, long nowNs) {
    if (decodedNs != Long.MIN_VALUE && nowNs - decodedNs < DECODE_SAMPLE_MS * NS_PER_MS) {
      return;
    }
    if (attempt.lastNs > endedNs && !reportsSteps(nowNs)) {
      StepWork work = model.newWork();
      work.addDecoding(1, kvTokens);
      learn(work, (nowNs - attempt.lastNs) / NS_PER_MS);
      engine.seen(nowNs);
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
      if (!reportsSteps(endedNs)) {
        int steps = steps(endedTokens);
        ended.addSteps(steps);
        ended.addDecoding(endedDecoding == 0 ? 0 : steps, endedKvTokens);
        learn(ended, ms);
        engine.seen(endedNs);
      }
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
    if (paced.isEmpty()) {
      return 0;
    }
    double lost = 0;
    double paceMs = tpotMs(0);
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
