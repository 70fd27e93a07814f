package io.kvasir.fleet.router.projected;

import io.kvasir.model.RankId;
import io.kvasir.timing.ForwardPass;
import io.kvasir.timing.StepModel;
import io.kvasir.timing.StepWork;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Times the steps of one rank and fits the model to them.
 *
 * <p>Not thread-safe.
 */
final class StepObservations {

  /*
   * In order of worth:
   *
   *   steps     that the engine reports. As long as they come, nothing else is learned from.
   *   prompts   that ended by their first token. Prompts that end at about the same time count as
   *             computed together, from the end of those before them or from the placement on. They
   *             are an observation once one of their answers has streamed on, because an answer that
   *             comes as a whole says nothing of its first token.
   *   reports   of computed prompts, without a token. Some engines publish the last blocks of a
   *             prompt one step before they are computed, so a single prompt says little; but many of
   *             them, one after another, take as long as there is between the first and the last
   *             report.
   *   gaps      between two tokens in which no prompt was computed, now and then.
   *
   * The ranks of one engine step together, so a time belongs to the rank whose step should have taken
   * the longest. The others learn nothing from it.
   */

  private static final Logger LOG = LoggerFactory.getLogger(StepObservations.class);

  private static final double NS_PER_MS = 1e6;

  /** Part of a prompt's expected time below which its end is that of the same step as another's. */
  private static final double SAME_STEP = 0.2;

  /** Time after the last reported step for which the engine counts as reporting. */
  private static final long REPORTS_NS = 10_000_000_000L;

  /** Groups of prompts with reported ends that are one observation together. */
  private static final int RUN_GROUPS = 8;

  /** Time between observations of decode steps. */
  private static final double DECODE_SAMPLE_MS = 50;

  private final RankId rank;
  private final StepModel model;
  private final LoadEstimate load;
  private final EngineRanks engine;
  private long maxTokens = RankForecast.DEFAULT_STEP_TOKENS;

  /* The prompts that ended last, at about the same time. */
  private final StepWork ended;
  private long group;
  private long endedTokens;
  private double endedExpectedMs;
  private int endedDecoding;
  private long endedKvTokens;
  private long beganNs;
  private long endedNs = Long.MIN_VALUE;

  /** Whether no prompt whose end was not observed was computed since. */
  private boolean alone;

  /** Whether no other rank of the engine should have taken longer for its steps. */
  private boolean slowest;

  /** Whether it is known exactly when they began. */
  private boolean beginKnown;

  /** Whether their end was reported without a token. */
  private boolean reportedEnd;

  /** Whether one of their answers has streamed on. */
  private boolean confirmed;

  /* Groups with reported ends, one after another. */
  private final StepWork run;
  private int runGroups;
  private long runBeganNs;
  private long runEndedNs;

  private long decodedNs = Long.MIN_VALUE;

  /* The last step that the engine reported, until it is compared with those of its other ranks. */
  private final StepWork passed;
  private long passedNs = Long.MIN_VALUE;
  private double passedMs;

  private long changes;

  /**
   * Begins without observations.
   *
   * @param rank the rank
   * @param load adds up the times of prompts
   * @param engine the ranks of its engine
   */
  StepObservations(RankId rank, LoadEstimate load, EngineRanks engine) {
    this.rank = rank;
    this.model = engine.model();
    this.load = load;
    this.engine = engine;
    this.ended = model.newWork();
    this.run = model.newWork();
    this.passed = model.newWork();
  }

  /** Steps that prompts need. */
  static int steps(long tokens, long maxTokens) {
    return tokens <= maxTokens ? 1 : (int) ((tokens - 1) / maxTokens) + 1;
  }

  /** The tokens that the rank computes in one step at most are known, at least 1. */
  void limitStep(long tokens) {
    maxTokens = tokens;
  }

  /** When the last prompt ended whose end was observed. */
  long endedNs() {
    return endedNs;
  }

  /**
   * A prompt was computed.
   *
   * @param attempt its attempt
   * @param assumedNs when the last prompt before it should have ended whose end was not observed
   * @param decoding requests that decode besides
   * @param kvTokens tokens whose KV they read
   * @param nowNs the time
   */
  void promptEnded(Attempt attempt, long assumedNs, int decoding, long kvTokens, long nowNs) {
    boolean another =
        endedTokens == 0 || nowNs - endedNs > SAME_STEP * attempt.expectedMs * NS_PER_MS;
    if (another) {
      learnGroup();
      group++;
      beganNs = Math.max(attempt.placedNs, endedNs);
      alone = beganNs >= assumedNs;
      beginKnown = alone && !(reportedEnd && beganNs == endedNs);
      reportedEnd = !attempt.streaming;
      endedDecoding = decoding;
      endedKvTokens = kvTokens;
    }
    attempt.group = group;
    ended.addPrompt(attempt.uncached, attempt.context);
    endedTokens += attempt.uncached;
    endedExpectedMs += attempt.expectedMs;
    endedNs = nowNs;
    slowest = engine.longestStepBesideMs(this, beganNs) <= endedStepMs();
  }

  /** How long each step of the prompts that ended last should have taken. */
  double endedStepMs() {
    return endedTokens == 0 ? 0 : endedExpectedMs / steps(endedTokens, maxTokens);
  }

  /** More tokens of an answer have come after its first ones. */
  void streamsOn(Attempt attempt, long nowNs) {
    confirmed |= attempt.group == group && nowNs > endedNs;
  }

  private void learnGroup() {
    if (endedTokens > 0 && (confirmed || reportedEnd)) {
      int steps = steps(endedTokens, maxTokens);
      ended.addSteps(steps);
      ended.addDecoding(endedDecoding == 0 ? 0 : steps, endedKvTokens);
      boolean exact = beginKnown && slowest && !reportedEnd;
      double ms = exact ? (endedNs - beganNs) / NS_PER_MS : endedExpectedMs;
      if (exact && !reportsSteps(endedNs)) {
        learn(ended, ms, false, endedNs);
      }
      load.busy(ms);
    }
    learnRun();
    ended.clear();
    endedTokens = 0;
    endedExpectedMs = 0;
    confirmed = false;
  }

  private void learnRun() {
    if (endedTokens == 0 || !reportedEnd || !slowest) {
      runGroups = 0;
    } else if (runGroups > 0 && alone && beganNs == runEndedNs) {
      run.add(ended);
      runGroups++;
      if (runGroups > RUN_GROUPS) {
        if (!reportsSteps(endedNs)) {
          learn(run, (endedNs - runBeganNs) / NS_PER_MS, false, endedNs);
        }
        beginRun();
      }
    } else {
      beginRun();
    }
    runEndedNs = endedNs;
  }

  /** Begins with the end of the last group. */
  private void beginRun() {
    run.clear();
    runGroups = 1;
    runBeganNs = endedNs;
  }

  /**
   * A request that decodes has got one token while no prompt was in the queue.
   *
   * @param attempt its attempt
   * @param assumedNs when the last prompt should have ended whose end was not observed
   * @param kvTokens tokens whose KV decoding requests read
   * @param nowNs the time
   */
  void decoded(Attempt attempt, long assumedNs, long kvTokens, long nowNs) {
    if (decodedNs != Long.MIN_VALUE && nowNs - decodedNs < DECODE_SAMPLE_MS * NS_PER_MS) {
      return;
    }
    if (attempt.lastNs > Math.max(endedNs, assumedNs)
        && !reportsSteps(nowNs)
        && engine.onlyDecodedBeside(this, attempt.lastNs, kvTokens)) {
      StepWork work = model.newWork();
      work.addDecoding(1, kvTokens);
      learn(work, (nowNs - attempt.lastNs) / NS_PER_MS, false, nowNs);
    }
    decodedNs = nowNs;
  }

  /**
   * The engine has reported a step of this rank. It is learned from once the other ranks of the
   * engine have reported theirs.
   *
   * @param pass the step
   * @param nowNs the time
   */
  void passed(ForwardPass pass, long nowNs) {
    passed.clear();
    if (pass.prefillTokens() > 0) {
      passed.addSteps(1);
      passed.addPrefill(pass.prefillTokens(), pass.attendedPairs());
    }
    if (pass.decodingRequests() > 0) {
      passed.addDecoding(1, pass.decodeKvTokens());
    }
    passedNs = nowNs;
    passedMs = pass.durationNs() / NS_PER_MS;
  }

  /** How long the last reported step should have taken; 0 if there was no work. */
  double passedExpectedMs() {
    return model.ms(passed);
  }

  /** Learns from the last reported step. */
  void learnPassed() {
    learn(passed, passedMs, true, passedNs);
  }

  private boolean reportsSteps(long nowNs) {
    return passedNs != Long.MIN_VALUE && nowNs - passedNs < REPORTS_NS;
  }

  private void learn(StepWork work, double ms, boolean isReported, long nowNs) {
    switch (engine.learn(work, ms, isReported, nowNs)) {
      case CHANGED -> noteChange();
      case RESET -> LOG.warn("Rank {}: learned step times were not finite and begin again", rank);
      case DROPPED -> warnOfDropped(ms);
      case LEARNED -> {}
    }
  }

  /**
   * At powers of two, so that the log does not grow with an engine whose times are never steady.
   */
  private void noteChange() {
    changes++;
    if (Long.bitCount(changes) == 1) {
      LOG.info("Rank {} has changed its step times ({} so far)", rank, changes);
    }
  }

  /** At powers of two, so that the log does not grow with the reports. */
  private void warnOfDropped(double ms) {
    long dropped = model.dropped();
    if (Long.bitCount(dropped) == 1) {
      LOG.warn(
          "Rank {}: a step of {} ms is more than 20 times off its expected time and was ignored"
              + " ({} so far)",
          rank,
          ms,
          dropped);
    }
  }
}
