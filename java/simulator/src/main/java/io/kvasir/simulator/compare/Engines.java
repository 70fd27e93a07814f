package io.kvasir.simulator.compare;

import io.kvasir.simulator.replay.ReplaySettings;
import io.kvasir.timing.StepProfile;
import io.kvasir.timing.StepTiming;

/**
 * The engines of a case.
 *
 * <p>Immutable.
 *
 * @param name the name of their step times in reports
 * @param timing the step times of a usual engine, with which ADP routers begin; fleet routers begin
 *     with the default ones
 * @param kind what the engines do, compared with these
 */
public record Engines(String name, StepTiming timing, EngineKind kind) {

  /** Those with the default step times. */
  public static final Engines DEFAULT =
      new Engines(StepProfile.MOCKER.id(), StepTiming.DEFAULT, EngineKind.AS_EXPECTED);

  /**
   * Other engines with the same step times.
   *
   * @param other what they do
   * @return the engines
   */
  public Engines with(EngineKind other) {
    return new Engines(name, timing, other);
  }

  /** A worker with these engines, one of some whose ranks are so many together. */
  ReplaySettings of(ReplaySettings worker, int ranks) {
    return worker
        .withTiming(timing)
        .withEngines(new ReplaySettings.Engines(timing, kind.delays(ranks)));
  }

  /**
   * {@return what differs from the default, for example {@code dsv3-h800-rank hangs}, or nothing}
   */
  public String difference() {
    String times = timing.equals(DEFAULT.timing) ? "" : name;
    String behaviour = kind == EngineKind.AS_EXPECTED ? "" : kind.id();
    return times.isEmpty() || behaviour.isEmpty() ? times + behaviour : times + " " + behaviour;
  }
}
