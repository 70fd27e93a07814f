package io.kvasir.timing;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The step times of several engines. Each has a model of its own, which learns from its own steps
 * alone, so no engine's reports change what is expected of another that is observed. A coefficient
 * without observations on an engine is the median over the engines that have observations.
 *
 * <p>Not thread-safe. Equal observations in equal order give equal times on all machines.
 */
public final class StepModels {

  /**
   * Engines that must have reported a coefficient, unless there are fewer, and their least share.
   * For times that were measured here, one engine is enough.
   */
  private static final int WITNESSES = 3;

  private static final int WITNESS_SHARE = 4;

  /** Observations of an engine that the prior is worth: few, because it may be far off. */
  private static final double PRIOR_WEIGHT = 2;

  /**
   * Part of the first variance below which a coefficient counts as shown. With a prior of that
   * weight, what is inferred from all the other coefficients leaves two thirds; an observation of
   * the coefficient alone leaves half.
   */
  private static final double SHOWN = 0.6;

  /** Observations after which engines are compared less often: once for so many and each engine. */
  private static final int FIRST_OBSERVATIONS = 16;

  private final StepTiming prior;
  private final StepModel common;
  private final List<StepModel> engines = new ArrayList<>();
  private final boolean[] known = new boolean[StepWork.SIZE]; // whether engines have shown it
  private double[] logs = {};
  private long observations;
  private long nextComparison;

  /**
   * Begins without engines.
   *
   * @param prior the times before any observation
   */
  public StepModels(StepTiming prior) {
    this.prior = prior;
    this.common = new StepModel(prior, PRIOR_WEIGHT);
  }

  /** {@return the times of the typical engine} */
  public StepModel common() {
    return common;
  }

  /** {@return the model of a new engine} */
  public StepModel add() {
    StepModel engine = new StepModel(prior, PRIOR_WEIGHT);
    for (int i = 0; i < StepWork.SIZE; i++) {
      engine.fit().setLog(i, common.fit().log(i));
    }
    engines.add(engine);
    return engine;
  }

  /**
   * An engine is gone.
   *
   * @param engine its model
   */
  public void remove(StepModel engine) {
    engines.remove(engine);
  }

  /**
   * Nothing was observed of an engine for a while, so it may have changed: half of what is known of
   * it is forgotten. Otherwise an engine that was slow for a time, and is avoided since, would stay
   * avoided.
   *
   * @param engine its model
   */
  public void relax(StepModel engine) {
    CoefficientFit fit = engine.fit();
    for (int i = 0; i < StepWork.SIZE; i++) {
      fit.setLog(i, (fit.log(i) + common.fit().log(i)) / 2);
    }
    engine.forget();
  }

  /**
   * An engine has learned from an observation. Compares the engines now and then: O(log engines).
   *
   * @param engine its model
   * @param reported whether the engine has reported the time; otherwise it was measured here
   */
  public void onLearned(StepModel engine, boolean reported) {
    engine.reported(reported);
    observations++;
    if (observations >= nextComparison && !engines.isEmpty()) {
      long most = Math.max(FIRST_OBSERVATIONS, engines.size());
      nextComparison = observations + Math.min(most, 1 + observations / FIRST_OBSERVATIONS);
      for (int i = 0; i < StepWork.SIZE; i++) {
        compare(i);
      }
      infer();
    }
  }

  private void compare(int i) {
    int measured = shown(i, false, 0);
    int all = shown(i, true, measured);
    int least = Math.min(engines.size(), Math.max(WITNESSES, engines.size() / WITNESS_SHARE));
    int voters = all - measured < least ? measured : all;
    if (voters > 0) {
      known[i] = true;
      Arrays.sort(logs, 0, voters);
      move(i, (logs[(voters - 1) / 2] + logs[voters / 2]) / 2);
    }
  }

  /** Appends what engines have shown of a coefficient, and returns the new number. */
  private int shown(int i, boolean reported, int before) {
    if (logs.length < engines.size()) {
      logs = new double[engines.size()];
    }
    int shown = before;
    for (StepModel engine : engines) {
      if (engine.isReported() == reported && engine.fit().unknown(i) < SHOWN) {
        logs[shown++] = engine.fit().log(i);
      }
    }
    return shown;
  }

  /** Coefficients that were never observed are scaled from the prior by the same factor. */
  private void infer() {
    double sum = 0;
    int count = 0;
    for (int i = 0; i < StepWork.SIZE; i++) {
      sum += known[i] ? common.fit().log(i) : 0;
      count += known[i] ? 1 : 0;
    }
    for (int i = 0; i < StepWork.SIZE; i++) {
      if (!known[i]) {
        move(i, common.fit().inferredLog(i, sum, count));
      }
    }
  }

  /** Moves a common coefficient, and those of the engines that have not shown it. */
  private void move(int i, double log) {
    double change = log - common.fit().log(i);
    if (change != 0) {
      common.fit().setLog(i, log);
      for (StepModel engine : engines) {
        CoefficientFit fit = engine.fit();
        if (fit.unknown(i) >= SHOWN) {
          fit.setLog(i, fit.log(i) + Math.min(1, fit.unknown(i)) * change);
        }
      }
    }
  }
}
