package io.kvasir.fleet.router.projected;

import io.kvasir.timing.ForwardPass;
import io.kvasir.timing.StepModel;
import io.kvasir.timing.StepModels;
import io.kvasir.timing.StepWork;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The ranks of one engine, which step together: each step takes as long as the slowest rank's. They
 * have one speed, because their times do not show which of them is slow.
 *
 * <p>Not thread-safe.
 */
final class EngineRanks {

  /** Time without an observation after which half of what is known is forgotten. */
  private static final long UNSEEN_NS = 30_000_000_000L;

  /** After so many times in a row, nothing is left to forget. */
  private static final int MOST_RELAXED = 16;

  /** Part of a step's time from which that of another rank is nearly as long. */
  private static final double NEAR_TIE = 0.9;

  private static final double NS_PER_MS = 1e6;

  private final List<RankForecast> ranks = new ArrayList<>();
  private final StepModels models;
  private final StepModel model;

  /** The ranks that have reported the last step, until all have. */
  private final Set<RankForecast> reported = new LinkedHashSet<>();

  private long seenNs;
  private boolean several;

  /* What was read for a choice. */
  private long readFor;
  private long beganNs;
  private long lastEndNs;
  private long dueNs;
  private final LongestSteps longest = new LongestSteps();

  /**
   * Begins without ranks.
   *
   * @param models the times of all engines, to which this one is added
   * @param nowNs the time
   */
  EngineRanks(StepModels models, long nowNs) {
    this.models = models;
    this.model = models.add();
    this.seenNs = nowNs;
  }

  void add(RankForecast rank) {
    ranks.add(rank);
    several = ranks.size() > 1;
  }

  void remove(RankForecast rank) {
    ranks.remove(rank);
    several = ranks.size() > 1;
    reported.remove(rank);
  }

  boolean isEmpty() {
    return ranks.isEmpty();
  }

  boolean hasSeveral() {
    return several;
  }

  /** The engine is gone. */
  void close() {
    models.remove(model);
  }

  /** The engine's times. */
  StepModel model() {
    return model;
  }

  /** The times of the typical engine. */
  StepModel typical() {
    return models.common();
  }

  /** Learns from the time that some work took, as measured here or as the engine has reported. */
  StepModel.Outcome learn(StepWork work, double ms, boolean isReported, long nowNs) {
    StepModel.Outcome outcome = model.learn(work, ms);
    models.onLearned(model, isReported);
    seenNs = Math.max(seenNs, nowNs);
    return outcome;
  }

  /** Forgets a part of what is known of the engine if it was not observed for long. */
  void relaxUnseen(long nowNs) {
    for (int times = 0; times < MOST_RELAXED && nowNs - seenNs > UNSEEN_NS; times++) {
      models.relax(model);
      seenNs += UNSEEN_NS;
    }
  }

  /**
   * Reads what is placed on the ranks, for {@link #togetherMs}. O(ranks + steps), once for each
   * number of a choice.
   *
   * @param choice the number of the choice, from 1; the next one after a change
   */
  void read(long choice) {
    if (choice == readFor) {
      return;
    }
    readFor = choice;
    beganNs = Long.MAX_VALUE;
    lastEndNs = Long.MIN_VALUE;
    dueNs = Long.MAX_VALUE;
    for (RankForecast each : ranks) {
      beganNs = Math.min(beganNs, each.queueBeganNs());
      lastEndNs = Math.max(lastEndNs, each.endedNs());
      dueNs = Math.min(dueNs, each.queueDueNs());
    }
    longest.read(ranks);
  }

  /**
   * The time until one rank has computed a prompt that is placed now, by what was {@linkplain #read
   * read} last. O(steps).
   *
   * @param rank the rank
   * @param steps the rank's steps until then, without the one in progress if it has no prompt there
   * @param stepMs its own time in each of them
   * @param nowNs the time
   * @return the sum of the longest times of all ranks in each step, less what has passed of the
   *     step in progress, and once more the time for which the first prompt of any rank is late
   */
  double togetherMs(RankForecast rank, int steps, double stepMs, long nowNs) {
    int inProgress = rank.queueBeganNs() == Long.MAX_VALUE ? 1 : 0;
    double ms = 0;
    double first = 0;
    for (int step = 0; step < steps + inProgress; step++) {
      double own = step < inProgress ? 0 : stepMs;
      double all = Math.max(own, longest.besideMs(rank, step));
      first = step == 0 ? all : first;
      ms += all;
    }
    if (beganNs == Long.MAX_VALUE) {
      return ms;
    }
    double lateMs = Math.max(0, (nowNs - dueNs) / NS_PER_MS);
    double elapsedMs = (nowNs - Math.max(beganNs, lastEndNs)) / NS_PER_MS;
    return lateMs + ms - Math.max(0, Math.min(elapsedMs, (1 - RankForecast.LEAST_LEFT) * first));
  }

  /**
   * How long a step of another rank should have taken at most since a time. O(ranks).
   *
   * @param rank the rank that does not count
   * @param sinceNs the time
   * @return milliseconds; 0 if no other rank had a prompt
   */
  double longestStepBesideMs(StepObservations rank, long sinceNs) {
    double longest = 0;
    for (RankForecast other : ranks) {
      if (other.observed() != rank) {
        longest = Math.max(longest, other.queueStepMs(0));
        if (other.observed().endedNs() > sinceNs) {
          longest = Math.max(longest, other.observed().endedStepMs());
        }
      }
    }
    return longest;
  }

  /**
   * Whether the other ranks computed no prompt since a time, and none of them reads more KV.
   * O(ranks).
   *
   * @param rank the rank that does not count
   * @param sinceNs the time
   * @param kvTokens the tokens whose KV it reads
   */
  boolean onlyDecodedBeside(StepObservations rank, long sinceNs, long kvTokens) {
    for (RankForecast other : ranks) {
      if (other.observed() != rank
          && (other.queueBeganNs() != Long.MAX_VALUE
              || other.endedNs() > sinceNs
              || other.kvTokens() > kvTokens)) {
        return false;
      }
    }
    return true;
  }

  /** The engine has reported a step of a rank. O(ranks). */
  void passed(RankForecast rank, ForwardPass pass, long nowNs) {
    if (reported.contains(rank)) { // the others have not reported theirs
      learnReported();
    }
    rank.observed().passed(pass, nowNs);
    reported.add(rank);
    if (reported.size() == ranks.size()) {
      learnReported();
    }
  }

  /**
   * The rank whose step should have taken the longest learns, unless another's is nearly as long.
   */
  private void learnReported() {
    RankForecast slowest = null;
    double longest = 0;
    double second = 0;
    for (RankForecast rank : reported) {
      double ms = rank.observed().passedExpectedMs();
      second = Math.max(second, Math.min(ms, longest));
      if (ms > longest) {
        longest = ms;
        slowest = rank;
      }
    }
    reported.clear();
    if (slowest != null && second < NEAR_TIE * longest) {
      slowest.observed().learnPassed();
    }
  }
}
