package io.kvasir.simulator.compare;

import io.kvasir.simulator.replay.ReplayResult;
import java.util.Optional;
import java.util.function.DoubleFunction;

/** Finds the speed of a case at which its workers are as busy as asked for. Immutable. */
final class SpeedSearch {

  /** Allowed difference between the measured and the target utilisation of the reference. */
  private static final double TOLERANCE = 0.005;

  /** The least relative difference between a speed that is too slow and one that is too fast. */
  private static final double PRECISION = 0.02;

  /**
   * Longest replay time, relative to the arrivals, that counts as keeping up. In a fleet, one long
   * request near the end occupies one worker: the time that this takes at the lowest speed is
   * allowed in addition, or that of a hang.
   */
  private static final double MAX_TIME = 1.03;

  /**
   * Prompts of a rank that wait or are computed, in the mean of a replay of sessions, up to which
   * the rank keeps up: sessions wait for answers, so that replays take the longer the more they
   * wait. At a utilisation of 0.8, exponential times would make them 4.
   */
  private static final double MOST_WAITING = 8;

  private static final int MAX_TRIALS = 12;

  /** Highest speed of sessions: faster ones would leave no time between an answer and a turn. */
  private static final double MAX_SESSION_SPEED = 16;

  /** The most that one trial is faster than the one before it. */
  private static final double MOST_FASTER = 4;

  private static final double NS_PER_MS = 1e6;

  private final Setting setting;
  private final int workers;
  private final DoubleFunction<ReplayResult> reference;

  /** A speed and the utilisation under the reference at that speed; 0 and 0 before a trial. */
  record Speed(double factor, double share) {}

  /**
   * Prepares the search.
   *
   * @param setting the case
   * @param workers workers that compute prompts under the reference
   * @param reference plays the case at a speed
   */
  SpeedSearch(Setting setting, int workers, DoubleFunction<ReplayResult> reference) {
    this.setting = setting;
    this.workers = workers;
    this.reference = reference;
  }

  /**
   * Interpolates between a speed that is too slow and one that is too fast, and bisects in every
   * third trial and where the reference did not keep up. If it stops keeping up below the target
   * utilisation, the fastest speed at which it kept up is used, to 2 %. Of two speeds that are less
   * apart, that with the nearer utilisation is.
   *
   * @param utilisation the share of their time for which workers are to compute prompts
   * @return the speed; empty if no request was served
   */
  Optional<Speed> find(double utilisation) {
    Traffic traffic = setting.traffic();
    double most = traffic.sessions() ? MAX_SESSION_SPEED : Double.POSITIVE_INFINITY;
    Speed slow = new Speed(0, 0);
    Speed fast = null;
    boolean fastKeptUp = false;
    double tailNs = setting.engines().kind().hangNs();
    double next = 1;
    for (int trial = 0; trial < MAX_TRIALS; trial++) {
      ReplayResult result = reference.apply(next);
      if (result.completed() == 0) {
        return Optional.empty();
      }
      Speed tried = new Speed(next, result.prefillShare() / workers);
      double arrivalsNs = traffic.lastArrivalNs() / next;
      boolean keepsUp =
          traffic.sessions()
              ? waiting(result) <= MOST_WAITING
              : result.virtualNs() <= MAX_TIME * arrivalsNs + tailNs;
      if (keepsUp && trial == 0 && workers > 1 && !traffic.sessions()) {
        tailNs = Math.max(tailNs, result.virtualNs() - arrivalsNs);
      }
      if (!keepsUp || tried.share() > utilisation + TOLERANCE) {
        fast = tried;
        fastKeptUp = keepsUp;
      } else if (tried.share() < utilisation - TOLERANCE && next < most) {
        slow = tried;
      } else {
        return Optional.of(tried);
      }
      if (fast == null) {
        double factor = trial == 0 ? Math.min(MOST_FASTER, utilisation / slow.share()) : 2;
        next = Math.min(most, factor * slow.factor());
      } else if (slow.factor() > (1 - PRECISION) * fast.factor()) {
        boolean nearer = fast.share() - utilisation < utilisation - slow.share();
        return Optional.of(fastKeptUp && nearer ? fast : slow);
      } else if (fastKeptUp && trial % 3 != 2) {
        next = interpolated(slow, fast, utilisation);
      } else {
        next = (slow.factor() + fast.factor()) / 2;
      }
    }
    return Optional.of(slow.factor() > 0 || fast == null ? slow : fast);
  }

  /** The mean number of prompts of a rank that wait or are computed, by Little's law. */
  private static double waiting(ReplayResult result) {
    double waitedNs = result.ttft().meanMs() * NS_PER_MS * result.completed();
    return waitedNs / result.virtualNs() / result.ranks().size();
  }

  private static double interpolated(Speed slow, Speed fast, double utilisation) {
    double part = (utilisation - slow.share()) / (fast.share() - slow.share());
    return slow.factor() + part * (fast.factor() - slow.factor());
  }
}
